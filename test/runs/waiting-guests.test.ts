import { fileURLToPath } from "node:url";
import { openSandbox, type Sandbox } from "@bursar/sandbox";
import { afterAll, beforeAll, expect, test } from "vitest";
import { compilePlan } from "../../packages/bursar/src/plans/plans.js";
import type { Program } from "../../packages/bursar/src/ports/program.js";
import { guestProgram } from "../../packages/bursar/src/runs/guest.js";
import { hasEnded } from "../../packages/bursar/src/runs/record.js";
import { COST_NANO, Scene } from "../../packages/bursar/test/models/batch/scene.js";

const CACHE = fileURLToPath(new URL("../../node_modules/.cache/bursar-sandbox-tests", import.meta.url));

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await openSandbox({ cacheFolder: CACHE, workers: 1 });
}, 120_000);
afterAll(() => sandbox[Symbol.asyncDispose]());

const PYTHON = `
said = []
for prompt in ["one", "two"]:
    answer = await host.llm({"prompt": prompt, "max_tokens": 50, "wait": True})
    said.append(answer["text"])
await host.call("result", said)
`;
const JAVASCRIPT = `
const said = [];
for (const prompt of ["one", "two"]) {
  const answer = await host.llm({ prompt, max_tokens: 50, wait: true });
  said.push(answer.text);
}
await host.call("result", said);
`;
const PLAN = `
(run :name "asks"
     :body (let [first (call :llm/ask {:prompt "one" :max_tokens 50 :wait true})
                 second (call :llm/chat {:messages [{:role "user" :content "two"}] :max_tokens 50 :wait true})]
             [(:text first) (:text second)]))
`;

const plain = { packages: [], memory_bytes: 64 * 1024 * 1024 };
const SOURCES = {
  python: { ...plain, language: "python", code: PYTHON },
  javascript: { ...plain, language: "javascript", code: JAVASCRIPT },
  plan: { ...plain, language: "javascript", code: compilePlan(PLAN).code },
} as const;

test.each(["python", "javascript", "plan"] as const)(
  "a %s program pauses for its batches, and goes on in another process each time",
  async (name) => {
    await using scene = await Scene.open();
    const program: Program = guestProgram(name, SOURCES[name], async () => sandbox);
    const starting = scene.process([program]);
    const limits = { cost_usd: 1, llm_tokens: null, wall_clock_ms: null };
    const pauses: (readonly string[])[] = [];
    await starting.start(name, null, { id: "r", limits });
    for (let turn = 0; turn < 40; turn++) {
      const bursar = scene.process([program]);
      const run = await bursar.drive("r");
      if (hasEnded(run)) break;
      const { batches = [] } = run.pause ?? {};
      if (pauses.at(-1)?.join() !== batches.join()) pauses.push(batches);
      scene.clock.advance(1000);
      await bursar.collect();
    }
    const run = await starting.find("r");
    expect(run).toMatchObject({ status: "completed", result: ["You said: one", "You said: two"] });
    expect(pauses).toEqual([["item:r/0"], ["item:r/1"]]);
    expect(await scene.used("r")).toMatchObject({ used: { cost_usd: 2 * COST_NANO }, reserved: {} });
  },
);
