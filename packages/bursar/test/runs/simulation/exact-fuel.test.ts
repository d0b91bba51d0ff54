import { expect, test } from "vitest";
import type { Program, Stage } from "../../../src/ports/program.js";
import { World } from "./world.js";

const PARTS = [700, 300, 500];
const NEEDED = PARTS.reduce((sum, part) => sum + part, 0);

/** A program that computes as guests do: some, then an effect, and some more, until it ends or its fuel does. */
const thinker: Program = {
  kind: "thinker",
  name: "thinker",
  digest: "1",
  source: null,
  play: (stage) => ({ result: think(stage) }),
};

async function think(stage: Stage): Promise<number> {
  let used = 0;
  for (const [at, part] of PARTS.entries()) {
    const enough = await stage.compute("fuel", { fuel: used }, async ({ fuel: most = 0 }) => {
      const fuel = Math.min(most, part);
      used += fuel;
      return { value: fuel === part, name: `guest ${used}`, used: { fuel } };
    });
    if (!enough && (await stage.exhausted())) return new Promise(() => {});
    if (at < PARTS.length - 1) await stage.ask("tool", { name: "add", args: { a: at, b: 1 } }).answer;
  }
  // Long enough that what it has used is written before its end is.
  await stage.ask("sleep", { ms: 5000 }).answer;
  return used;
}

const optionsWith = (fuel: number) => ({ id: "r", limits: { fuel, wall_clock_ms: null, steps: null } });

test.each([
  [NEEDED, { status: "completed", result: NEEDED, usage: { fuel: NEEDED } }],
  [NEEDED - 1, { status: "failed", failure: { dimension: "fuel" }, usage: { fuel: NEEDED - 1 } }],
])("a program that may use %i units comes to the same end wherever its process dies", async (fuel, end) => {
  const calm = new World(1, [thinker]);
  expect(await calm.until(calm.process().run("thinker", null, optionsWith(fuel)))).toMatchObject(end);
  const writes = calm.handles[0]?.writes ?? 0;
  expect(writes).toBeGreaterThan(5);
  for (let at = 0; at < writes; at++) {
    for (const when of ["before", "after"] as const) {
      const world = new World(at, [thinker]);
      const dying = world.process({ dies: { at, when } });
      void dying.run("thinker", null, optionsWith(fuel)).catch(() => {});
      for (let turn = 0; turn < 3000 && !world.handles[0]?.dead; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
        if (turn % 10 === 9) world.clock.advance(20);
      }
      const result = await world.until(world.process().run("thinker", null, optionsWith(fuel)));
      expect({ when, at, result }).toMatchObject({ when, at, result: end });
      expect(await world.check()).toEqual([]);
    }
  }
});
