import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { patience, randomOf, report, rounds, SEED, withSeed } from "../../packages/bursar/test/stores/seeds.js";
import { type PostgresServer, startPostgres } from "../postgres/server.mjs";
import { usageWith } from "./charges.js";
import { Scene, type Seen } from "./scene.js";
import { KINDS, startOf, undisturbed } from "./starting.js";

/** So many that programs in the sandbox are saved in between. */
const TURNS = 15;
const STARTS = KINDS.map((kind) => startOf(kind, { input: { turns: TURNS } }));
const POINTS = {
  SQLite: ["begun", "decided", "written", "committed", "answered"],
  PostgreSQL: ["decided", "written", "committed", "answered"],
};
const KILLS = 2;

let server: PostgresServer;
let straight: ReadonlyMap<string, Seen>;
let schemas = 0;
beforeAll(async () => {
  [server, straight] = await Promise.all([startPostgres(), undisturbed(STARTS)]);
}, 120_000);
afterAll(() => server[Symbol.asyncDispose]());

/** Lets workers die in the middle of transactions until one of them comes to the end of all runs. Tells how many have died. */
async function dieAndEnd(scene: Scene, points: readonly string[], seed: number): Promise<number> {
  const random = randomOf(seed);
  const ended = new Set<string>();
  for (let kills = 0; ; kills++) {
    const point = points[Math.floor(random() * points.length)] ?? "answered";
    const trap = `kill:${point}:${1 + Math.floor(random() * 80)}`;
    const worker = scene.start({ starts: STARTS }, kills < KILLS ? { trap } : {});
    const isOver = () => {
      for (const { run } of worker.heard()) ended.add(run);
      return ended.size === STARTS.length;
    };
    if (await worker.lives(isOver)) {
      await worker.stop();
      return kills;
    }
    if (kills === KILLS) throw new Error("a worker that nobody has killed ended by itself");
  }
}

async function check(scene: Scene, id: string, kills: number): Promise<void> {
  const seen = await scene.see(id);
  const other = straight.get(id);
  expect(seen.end).toEqual(other?.end);
  expect(seen.held).toBe(false);
  expect(seen.usage).toEqual(usageWith(other, seen.estimated));
  for (let number = 0; number < 2 * TURNS; number++) {
    const key = `${id}/${number}`;
    const marked = seen.estimated.filter((each) => each === key).length;
    const times = (number % 2 === 0 ? scene.doors.asked : scene.doors.used).get(key) ?? 0;
    expect(times, `${key} was done`).toBeGreaterThan(0);
    // Whatever was asked of the model again had been in flight, and is marked as that; tools may just be used again.
    expect(times, `${key} was done again`).toBeLessThanOrEqual(1 + (number % 2 === 0 ? marked : kills));
    expect(marked, `${key} was in flight`).toBeLessThanOrEqual(kills);
  }
}

describe.each(["SQLite", "PostgreSQL"] as const)(
  "programs of every kind whose workers die in transactions on %s",
  (name) => {
    test("come to the same end, and pay for what was in flight", { timeout: patience() }, async () => {
      for (let round = 0; round < rounds(1); round++) {
        const seed = SEED + 1000 + round;
        await withSeed(seed, async () => {
          const postgres = name === "SQLite" ? undefined : { url: server.url, schema: `points_${schemas++}` };
          await using scene = await Scene.open(postgres);
          const kills = await dieAndEnd(scene, POINTS[name], seed);
          for (const { options } of STARTS) await check(scene, options.id ?? "", kills);
          report({ "workers killed": kills, "runs that lost a worker": kills * STARTS.length });
        });
      }
    });
  },
);
