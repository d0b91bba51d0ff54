import { expect, test } from "vitest";
import type { RunResult } from "../../../src/runs/result.js";
import { busy, child, EXPECTED, OPTIONS } from "./agents.js";
import { World } from "./world.js";

const ANN = { name: "ann", role: "operator" } as const;

async function undisturbed(): Promise<{ readonly world: World; readonly result: RunResult }> {
  const world = new World(1, [busy, child]);
  return { world, result: await world.until(world.process().run("busy", { size: 3 }, OPTIONS)) };
}

test("without a fault every effect is made once", async () => {
  const { world, result } = await undisturbed();
  expect(result).toMatchObject({ status: "completed", result: EXPECTED });
  expect([...world.effects.values()].every((times) => times === 1)).toBe(true);
  expect(await world.check()).toEqual([]);
});

test("a process that dies at any write is followed by another, and nothing is lost or done twice", async () => {
  const { world: first, result: straight } = await undisturbed();
  const writes = first.handles[0]?.writes ?? 0;
  expect(writes).toBeGreaterThan(10);
  for (let at = 0; at < writes; at++) {
    for (const when of ["before", "after"] as const) {
      const world = new World(at, [busy, child]);
      const dying = world.process({ dies: { at, when } });
      void dying.run("busy", { size: 3 }, OPTIONS).catch(() => {});
      for (let turn = 0; turn < 3000 && !world.handles[0]?.dead; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        if (turn % 10 === 9) world.clock.advance(20);
      }
      const result = await world.until(world.process().run("busy", { size: 3 }, OPTIONS));
      const where = `killed ${when} write ${at}`;
      expect({ where, result }).toMatchObject({ where, result: { status: "completed", result: EXPECTED } });
      expect({ where, problems: await world.check() }).toEqual({ where, problems: [] });
      const twice = [...world.effects.values()].filter((times) => times > 1);
      // Three at once are under way at most.
      expect({ where, twice: twice.length <= 3 && twice.every((times) => times === 2) }).toEqual({
        where,
        twice: true,
      });
      if (twice.length === 0) expect(result.usage.steps).toBe(straight.usage.steps);
    }
  }
});

test("a pause outlives the process, and two people who answer at once answer once", async () => {
  const world = new World(7, [busy, child]);
  const options = {
    ...OPTIONS,
    limits: { ...OPTIONS.limits, steps: 4 },
    policies: { steps: "approval_required" },
  } as const;
  const paused = await world.until(world.process().run("busy", { size: 3 }, options));
  expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "steps" });
  if (paused.status !== "paused") return;
  const approve = (name: string) =>
    world.process().approve(paused.checkpoint_id, { by: { ...ANN, name }, extensions: { steps: 100 } });
  const answers = await world.until(Promise.allSettled([approve("ann"), approve("bob")]));
  expect(answers.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
  const done = await world.until(world.process().run("busy", { size: 3 }, options));
  expect(done).toMatchObject({ status: "completed", result: EXPECTED });
  expect([...world.effects.values()].every((times) => times === 1)).toBe(true);
  expect(await world.check()).toEqual([]);
});
