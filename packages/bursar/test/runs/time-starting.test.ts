import { expect, test } from "vitest";
import type { GuestSession, GuestTurn, Sandbox } from "../../src/ports/sandbox.js";
import { defineAgent } from "../../src/runs/agent.js";
import { guestProgram } from "../../src/runs/guest.js";
import { sleep } from "../../src/runs/sleep.js";
import { ANN, mortal, pausedOf, Theatre } from "./stage.js";

const USAGE = { fuel: 10, memory_bytes: 1, bytes_written: 0, bytes_refused: 0, memory_refused: 0 };
const RESULT = { success: true, exit_code: 0, stdout: "", stderr: "", metadata: { trap_reason: null } } as const;
const ENDED: GuestTurn = { kind: "ended", result: RESULT, usage: USAGE };

/** A sandbox whose interpreter takes five seconds to start, in every process anew; its program makes two calls. */
function slowSandbox(theatre: Theatre): Sandbox {
  const asks = (id: number): GuestTurn => {
    const calls = [{ id, name: "tool", args: { name: "echo", args: { text: String(id) } } }];
    return { kind: "pending", calls, open: [id], usage: USAGE, output: { stdout: "", stderr: "" } };
  };
  const sessionFrom = (asked: number): GuestSession => {
    let at = asked;
    return {
      begin: async (code) => (code === "" ? ENDED : asks(++at)),
      resume: async () => (at === 2 ? ENDED : asks(++at)),
      allow: async () => {},
      save: async () => Buffer.from(String(at)),
      cancel: async () => {},
      destroy: async () => {},
    };
  };
  return {
    warm: () => sleep(theatre.clock, 5000),
    createSession: async () => sessionFrom(0),
    restoreSession: async (saved) => sessionFrom(Number(Buffer.from(saved).toString())),
  };
}

const SOURCE = { language: "python", code: "two calls", packages: [], memory_bytes: 1 } as const;
const SHORT = { wall_clock_ms: 3000 };

test("the start of the interpreter is none of the run's time, at its beginning and wherever it goes on", async () => {
  const theatre = new Theatre([]);
  const process = () => {
    const sandbox = slowSandbox(theatre);
    const guest = guestProgram("guest", SOURCE, async () => sandbox);
    return theatre.process({ programs: [guest], revive: () => guest });
  };
  const policies = { steps: "approval_required" } as const;
  const first = process();
  const limits = { ...SHORT, steps: 1 };
  pausedOf(await theatre.until(first.run("guest", null, { id: "r", limits, policies })));
  await first[Symbol.asyncDispose]();
  expect(Number((await first.result(await first.find("r"))).usage.wall_clock_ms)).toBeLessThan(1000);
  const done = await theatre.until(process().approve("r/checkpoint", { by: ANN }));
  expect(done).toMatchObject({ status: "completed" });
  expect(Number(done.usage.wall_clock_ms)).toBeLessThan(2000);
  expect(theatre.said).toEqual(["1", "2"]);
});

test("what passes after the last word of a worker that died is none of the run's time", async () => {
  const slow = defineAgent("slow", async (ctx) => {
    await ctx.tool("echo", { text: "a" });
    await ctx.sleep(60_000);
  });
  const theatre = new Theatre([slow]);
  const { seen, kill } = mortal(theatre.store);
  void theatre.process({ store: seen }).run("slow", null, { id: "r", limits: { wall_clock_ms: 600_000 } });
  await theatre.until(sleep(theatre.clock, 4000));
  kill();
  await theatre.until(sleep(theatre.clock, 40_000));
  const next = theatre.process();
  const run = await next.find("r");
  // As it is shown, and as whoever takes it up counts it: up to the last write of the dead worker.
  expect(run.status).toBe("running");
  const claimed = await next.claim(run);
  expect(claimed).toBe(true);
  const used = Number((await next.result(await next.find("r"))).usage.wall_clock_ms);
  expect(used).toBeLessThanOrEqual(4200);
  await theatre.until(next.cancel("r", ANN));
});
