import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import type { StartOptions } from "../../src/runs/opening.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, Latch, listOf, pausedOf, settle, Theatre } from "./stage.js";

/** What a tool that never answers by itself has seen. */
interface Seen {
  begun: number;
  readonly aborted: unknown[];
  answer: Latch | null;
}

function endless(seen: Seen) {
  return defineTool({
    name: "endless",
    description: "Answers when it is told to.",
    input: { type: "object" },
    quote: { cost_usd: 0.02 },
    run: (_: unknown, { signal }) => {
      seen.begun++;
      if (seen.answer !== null) return seen.answer.opened.then(() => "at last");
      return new Promise((_, reject) => {
        signal.addEventListener("abort", () => {
          seen.aborted.push((signal.reason as { code?: string }).code);
          reject(signal.reason);
        });
      });
    },
  });
}

const patient = defineAgent("patient", async (ctx) => {
  await ctx.tool("echo", { text: "before" });
  return ctx.tool("endless");
});

function setUp() {
  const seen: Seen = { begun: 0, aborted: [], answer: null };
  const theatre = new Theatre([patient, sleeper, idle], [endless(seen)]);
  return { seen, theatre };
}

const sleeper = defineAgent("sleeper", async (ctx, { ms }: { ms: number }) => {
  await ctx.sleep(ms);
  await ctx.tool("echo", { text: "awake" });
  return "awake";
});

/** Waits for something that is no effect of the run. */
const idle = defineAgent("idle", () => new Promise<never>(() => {}));

const MINUTE = 60_000;

test("a call in flight is aborted at the moment the wall clock runs out, and the run ends Failed", async () => {
  const { seen, theatre } = setUp();
  const work = theatre.process().run("patient", null, { id: "r", limits: { wall_clock_ms: 5000 } });
  await settle();
  theatre.clock.advance(4999);
  await settle();
  expect(seen.aborted).toEqual([]);
  theatre.clock.advance(1);
  await settle();
  expect(seen.aborted).toEqual(["out_of_time"]);
  const result = await theatre.until(work);
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "wall_clock_ms" } });
  // It was under way, so it is charged.
  expect(result.usage).toMatchObject({ cost_usd: 0.02, wall_clock_ms: 5000 });
  expect(await theatre.events("r")).toContain("Exhausted");
});

test("a call in flight is aborted when the deadline comes, whatever the wall clock has left", async () => {
  const { seen, theatre } = setUp();
  const deadline = new Date(theatre.clock.now().instant + 3000);
  const work = theatre.process().run("patient", null, { id: "r", deadline, limits: { wall_clock_ms: null } });
  await settle();
  theatre.clock.advance(2999);
  await settle();
  expect(seen.aborted).toEqual([]);
  theatre.clock.advance(1);
  const result = await theatre.until(work);
  expect(seen.aborted).toEqual(["out_of_time"]);
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "deadline" } });
});

const ASKING: StartOptions = {
  id: "r",
  limits: { wall_clock_ms: 5000 },
  policies: { wall_clock_ms: "approval_required" },
};

test("with approval_required the run pauses at that moment, and goes on after a yes", async () => {
  const { seen, theatre } = setUp();
  const work = theatre.process().run("patient", null, ASKING);
  await settle();
  theatre.clock.advance(5000);
  const paused = pausedOf(await theatre.until(work));
  expect(paused.exhausted_dimension).toBe("wall_clock_ms");
  expect(seen).toMatchObject({ begun: 1, aborted: ["out_of_time"] });
  const [request] = await listOf(theatre.process().approvals());
  expect(request).toMatchObject({
    exhausted_dimension: "wall_clock_ms",
    budget: "r",
    limits: { wall_clock_ms: 5000 },
    suggested_extension: { wall_clock_ms: 2500 },
  });
  seen.answer = new Latch();
  seen.answer.open();
  const done = await theatre.until(theatre.process().approve(paused.checkpoint_id, { by: ANN }));
  expect(done).toMatchObject({ status: "completed", result: "at last" });
  // What had an answer was not done again; what was aborted was.
  expect(theatre.said).toEqual(["before"]);
  expect(seen.begun).toBe(2);
});

test("a pause for approval is no running time", async () => {
  const { theatre, seen } = setUp();
  const work = theatre.process().run("patient", null, ASKING);
  await settle();
  theatre.clock.advance(5000);
  const paused = pausedOf(await theatre.until(work));
  theatre.clock.advance(20 * 60 * MINUTE);
  expect((await theatre.process().result(await theatre.process().find("r"))).usage.wall_clock_ms).toBe(5000);
  seen.answer = new Latch();
  const going = theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions: { wall_clock_ms: 1000 } });
  await settle();
  theatre.clock.advance(999);
  await settle();
  expect((await theatre.process().find("r")).status).toBe("running");
  seen.answer.open();
  const done = await theatre.until(going, 1);
  expect(done).toMatchObject({ status: "completed", usage: { wall_clock_ms: 5999 } });
});

test("a deadline does not stop for a pause", async () => {
  const { theatre } = setUp();
  const deadline = new Date(theatre.clock.now().instant + 30 * MINUTE);
  const options = { id: "r", deadline, limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
  const paused = pausedOf(await theatre.until(theatre.process().run("patient", null, options)));
  theatre.clock.advance(30 * MINUTE);
  const late = await theatre.until(theatre.process().approve(paused.checkpoint_id, { by: ANN }));
  expect(late).toMatchObject({ status: "failed", failure: { dimension: "deadline" } });
});

test("the clock runs out while the program sleeps, and it does not wake up", async () => {
  const { theatre } = setUp();
  const limits = { wall_clock_ms: 5000 };
  const result = await theatre.until(theatre.process().run("sleeper", { ms: MINUTE }, { id: "r", limits }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "wall_clock_ms" } });
  expect(theatre.said).toEqual([]);
  expect(result.usage.wall_clock_ms).toBe(5000);
});

test("the clock runs out with nothing in flight, and the run ends all the same", async () => {
  const { theatre } = setUp();
  const limits = { wall_clock_ms: 5000 };
  const result = await theatre.until(theatre.process().run("idle", null, { id: "r", limits }));
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "wall_clock_ms" } });
  const asked = { limits, policies: { wall_clock_ms: "approval_required" } } as const;
  const paused = pausedOf(await theatre.until(theatre.process().run("idle", null, { id: "q", ...asked })));
  expect(paused.exhausted_dimension).toBe("wall_clock_ms");
  expect(paused.approval_id).not.toBe(null);
});

test("a sleep that outlasts a pause is over when its instant has come", async () => {
  const { theatre } = setUp();
  const work = theatre.process().run("sleeper", { ms: 20_000 }, ASKING);
  const paused = pausedOf(await theatre.until(work));
  theatre.clock.advance(60 * MINUTE);
  const done = await theatre.until(
    theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions: { wall_clock_ms: 10 } }),
    1,
  );
  expect(done).toMatchObject({ status: "completed", result: "awake" });
});

test("a clock that only warns stops nobody", async () => {
  const { theatre } = setUp();
  const options = { id: "r", limits: { wall_clock_ms: 5000 }, policies: { wall_clock_ms: "soft_warn" } } as const;
  const result = await theatre.until(theatre.process().run("sleeper", { ms: 20_000 }, options));
  expect(result).toMatchObject({ status: "completed", result: "awake" });
  expect(await theatre.events("r")).toContain("Exhausted");
});

test("an extension that comes in time keeps the run from running out", async () => {
  const { theatre } = setUp();
  const bursar = theatre.process();
  const work = bursar.run("sleeper", { ms: 20_000 }, { id: "r", limits: { wall_clock_ms: 5000 } });
  await settle();
  theatre.clock.advance(4000);
  await bursar.extend("r", { wall_clock_ms: 30_000 }, { by: ANN });
  expect(await theatre.until(work)).toMatchObject({ status: "completed" });
});

test("running time goes on counting where another process takes over", async () => {
  const { theatre, seen } = setUp();
  const dead = theatre.process({ claim_ms: 3000 });
  const work = dead.run("patient", null, { id: "r", limits: { wall_clock_ms: 20_000 } });
  work.catch(() => {});
  await settle();
  theatre.clock.advance(2000);
  void dead[Symbol.asyncDispose]();
  await settle();
  // Nobody drives it meanwhile.
  theatre.clock.advance(60 * MINUTE);
  seen.answer = new Latch();
  const going = theatre.process().drive("r");
  await settle();
  theatre.clock.advance(4000);
  await settle();
  seen.answer.open();
  const { status } = await theatre.until(going, 1);
  expect(status).toBe("completed");
  const used = await theatre.process().result(await theatre.process().find("r"));
  expect(used.usage.wall_clock_ms).toBeGreaterThanOrEqual(6000);
  expect(used.usage.wall_clock_ms).toBeLessThan(MINUTE);
});
