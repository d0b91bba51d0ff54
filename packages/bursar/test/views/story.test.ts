import { expect, test } from "vitest";
import { parseLine } from "../../src/core/chain/link.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { readAmounts } from "../../src/core/input.js";
import type { Operation } from "../../src/core/operation.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { StoryTeller } from "../../src/views/story.js";
import { UsageTrail } from "../../src/views/usage-trail.js";

const amounts = (all: Record<string, number>) => readAmounts(all, STANDARD);

/** A budget named r, and what its chain says to whoever reads it. */
class Scene {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore({ clock: this.clock });

  static async open(limits: Record<string, number>): Promise<Scene> {
    const scene = new Scene();
    const grant = { kind: "limits", limits: amounts(limits) } as const;
    await scene.apply({ op: "open", parent: null, opening: { id: "r", scope: "run", grant } });
    return scene;
  }

  async apply(...operations: Operation[]): Promise<void> {
    await this.store.apply(operations);
  }

  async call(call: string, step_id: string, asked: Record<string, number>): Promise<void> {
    const kind = "model";
    await this.apply({ op: "reserve", budget: "r", call, kind, asked: amounts(asked), step_id, capability_id: "m" });
  }

  async read(): Promise<{ story: StoryTeller; trail: UsageTrail }> {
    const story = new StoryTeller({ id: "r", shares: false }, STANDARD);
    const trail = new UsageTrail("r", STANDARD);
    for await (const line of this.store.chain("r")) {
      story.take(parseLine(line));
      trail.take(parseLine(line));
    }
    return { story, trail };
  }
}

test("a late report stands in the place of what its own call was charged, and of no other try", async () => {
  const scene = await Scene.open({ cost_usd: 10 });
  await scene.call("first", "r/0", { cost_usd: 1 });
  await scene.apply({ op: "commit", call: "first", used: amounts({ cost_usd: 1 }) });
  await scene.call("second", "r/0", { cost_usd: 2 });
  await scene.apply({ op: "commit", call: "second", used: {} });
  expect((await scene.read()).story.steps()).toMatchObject([{ used: { cost_usd: 3 }, estimated: true }]);

  await scene.apply({ op: "commit", call: "second", used: amounts({ cost_usd: 0.5 }) });

  const { story, trail } = await scene.read();
  expect(story.steps()).toMatchObject([{ number: 0, state: "done", used: { cost_usd: 1.5 } }]);
  expect(trail.charges.map((charge) => charge.amounts.cost_usd)).toEqual([1, 2, -1.5]);
});

test("of two tries the higher peak counts, and everything else adds up", async () => {
  const scene = await Scene.open({ steps: 10 });
  for (const [call, memory_peak_bytes] of [
    ["a", 500],
    ["b", 300],
  ] as const) {
    await scene.apply({
      op: "charge",
      budget: "r",
      call,
      step_id: "r/0",
      capability_id: "code",
      used: amounts({ fuel: 10, memory_peak_bytes }),
    });
  }
  expect((await scene.read()).story.steps()).toMatchObject([{ used: { fuel: 20, memory_peak_bytes: 500 } }]);
});

test("only what the run itself asked for is a step of its", async () => {
  const scene = await Scene.open({ steps: 10 });
  const used = amounts({ steps: 1 });
  for (const step_id of ["r/0", "r.0/1", "other/2", "r/x", "r/"]) {
    await scene.apply({ op: "charge", budget: "r", call: step_id, step_id, used });
  }
  expect((await scene.read()).story.steps().map(({ number }) => number)).toEqual([0]);
});

test("the clock runs between its starts and stops", async () => {
  const scene = await Scene.open({ steps: 10 });
  const began = scene.clock.now().instant;
  scene.clock.advance(1000);
  await scene.apply({ op: "pause", budget: "r" });
  scene.clock.advance(5000);
  await scene.apply({ op: "record", budget: "r", action: { action_type: "RunResumed", data: {} } });
  await scene.apply({ op: "resume", budget: "r" });
  scene.clock.advance(500);
  const first = { from: began, to: began + 1000 };
  expect((await scene.read()).trail.spans).toEqual([first, { from: began + 6000, to: null }]);
  await scene.apply({ op: "end", budget: "r" });
  expect((await scene.read()).trail.spans).toEqual([first, { from: began + 6000, to: began + 6500 }]);
});

test("the night in which a worker was dead is not taken for time in which it ran", async () => {
  const scene = await Scene.open({ steps: 10 });
  const began = scene.clock.now().instant;
  scene.clock.advance(1000);
  await scene.apply({ op: "charge", budget: "r", call: "a", used: amounts({ steps: 1 }) });
  scene.clock.advance(36_000_000);
  await scene.apply(
    { op: "record", budget: "r", action: { action_type: "RunClaimed", data: {} } },
    { op: "pause", budget: "r", at: began + 31_000 },
    { op: "resume", budget: "r" },
  );
  const { spans } = (await scene.read()).trail;
  expect(spans).toEqual([
    { from: began, to: began + 1000 },
    { from: began + 36_001_000, to: null },
  ]);
});

test("limits are known from when on they held", async () => {
  const scene = await Scene.open({ cost_usd: 1, steps: 5 });
  const began = scene.clock.now().instant;
  scene.clock.advance(1000);
  const extend = { op: "extend", budget: "r", approved_by: "ann", reason: null } as const;
  await scene.apply({ ...extend, additional: amounts({ cost_usd: 0.1 }) });
  await scene.apply({ ...extend, additional: amounts({ cost_usd: 0.2 }) });
  const { limits } = (await scene.read()).trail;
  expect(limits.filter(({ dimension }) => dimension === "cost_usd")).toEqual([
    { at: began, dimension: "cost_usd", limit: 1 },
    { at: began + 1000, dimension: "cost_usd", limit: 1.1 },
    { at: began + 1000, dimension: "cost_usd", limit: 1.3 },
  ]);
});
