import type { Program } from "../../../src/ports/program.js";
import { defineAgent } from "../../../src/runs/agent.js";
import type { Bursar } from "../../../src/runs/bursar.js";
import { hasEnded } from "../../../src/runs/record.js";
import type { RunResult } from "../../../src/runs/result.js";
import type { Scene } from "./scene.js";

export const LIMITS = { cost_usd: 1, llm_tokens: null, wall_clock_ms: 60_000 };
export const OPTIONS = { id: "r", limits: LIMITS };

export interface Said {
  readonly text: string;
}

/** Three at once, and one more after that. */
export const patient: Program = defineAgent("patient", async (ctx) => {
  const ask = (prompt: string) => ctx.model<Said>({ prompt, max_tokens: 50 }, { wait: true });
  const first = await Promise.all(["one", "two", "three"].map(ask));
  const last = await ask(first.map(({ text }) => text.slice(-3)).join(" "));
  return last.text;
});
export const ANSWER = "You said: one two ree";

/** Drives a run through all its pauses, as a worker would. */
export async function driven(scene: Scene, bursar: Bursar, id: string, step_ms = 1000): Promise<RunResult> {
  for (let round = 0; round < 200; round++) {
    const run = await scene.until(bursar.drive(id));
    if (hasEnded(run)) return bursar.result(run);
    scene.clock.advance(step_ms);
    await scene.until(bursar.collect());
  }
  throw new Error("the run does not come to its end");
}
