import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { startChild } from "./child.js";
import { queryOf } from "./file-query.js";
import { temporaryFolder } from "./folder.js";
import { clockAhead, History } from "./history.js";
import { patience, randomOf, report, rounds, SEED, withSeed } from "./seeds.js";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());
let files = 0;

/** So many files are in use by one child, each with a history of its own: one kill then is a crash of each of them. */
const FILES = 4;
const CALLERS = 4;
const POINTS = ["begun", "decided", "written", "committed", "answered"] as const;

async function histories(): Promise<readonly History[]> {
  const all = Array.from({ length: FILES }, () => {
    const path = join(folder.path, `${files++}.db`);
    const open = (ahead_ms: number) => SqliteStore.open({ path, clock: clockAhead(ahead_ms) });
    return new History({ path }, open, queryOf(path));
  });
  await Promise.all(all.map((history) => history.begin()));
  return all;
}

/** How a child dies: at a named point, while it opens its stores, or so long after that. */
interface Death {
  readonly trap?: string;
  readonly opening_ms?: number;
  readonly working_ms?: number;
}

/** Lets a child die. A store is held to all that was ever acknowledged, so it is enough to look at one of them each time. */
async function crash(all: readonly History[], seed: number, death: Death): Promise<void> {
  const { trap } = death;
  const stores = all.map((history, place) => history.errand(seed * FILES + place));
  const errand = { stores, callers: CALLERS, lists: 100_000, death };
  const ended = await startChild("load.mjs", errand, trap === undefined ? {} : { trap }).over;
  expect(ended.signal, `it should have been killed: ${ended.stderr}`).toBe("SIGKILL");
  for (const [place, history] of all.entries()) history.witness.hear(ended.lines, place);
  await all[seed % FILES]?.check();
}

/** A history of crashes of the same files, which is harder than each of them alone. */
async function crashAll(seeds: readonly number[], death: (seed: number) => Death): Promise<number> {
  const all = await histories();
  for (const seed of seeds) await withSeed(seed, () => crash(all, seed, death(seed)));
  await withSeed(seeds[0] ?? 0, async () => {
    for (const history of all) await history.check();
    for (const history of all) await history.end();
  });
  const acknowledged = all.reduce((sum, { witness }) => sum + witness.acknowledged.length, 0);
  report({ kills: seeds.length, "SQLite files crashed": seeds.length * FILES, "lists acknowledged": acknowledged });
  return acknowledged;
}

function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => SEED + first + at);
}

describe.concurrent("a SQLite store whose process is killed", () => {
  test.each(POINTS.map((point, index) => [point, index] as const))(
    "at the point %s",
    async (point, index) => {
      const seeds = seedsFrom(index * 1_000, rounds(7));
      // The first of all, then any later one, and in the end one that comes when something has been acknowledged for sure.
      const nth = (seed: number) => {
        if (seed === seeds.at(-1)) return 100;
        return seed === seeds[0] ? 1 : 1 + Math.floor(randomOf(seed)() * 100);
      };
      expect(await crashAll(seeds, (seed) => ({ trap: `kill:${point}:${nth(seed)}` }))).toBeGreaterThan(0);
    },
    patience(),
  );

  test("at any moment of its work", { timeout: patience() }, async () => {
    const seeds = seedsFrom(10_000, rounds(18));
    expect(await crashAll(seeds, (seed) => ({ working_ms: randomOf(seed)() * 250 }))).toBeGreaterThan(0);
  });

  test("while it opens its files", { timeout: patience() }, async () => {
    await crashAll(seedsFrom(20_000, rounds(4)), (seed) => ({
      opening_ms: 50 + randomOf(seed)() * 200,
      working_ms: randomOf(seed)() * 20,
    }));
  });
});

describe("several processes on one SQLite file", () => {
  test("do not notice that others are killed", { timeout: patience() }, async () => {
    const [history] = await histories();
    if (history === undefined) throw new Error("there is no file");
    for (const seed of seedsFrom(30_000, rounds(2))) {
      await withSeed(seed, async () => {
        const start = (death: Death, at: number) =>
          startChild("load.mjs", { stores: [history.errand(seed + at)], callers: CALLERS, lists: 60, death }).over;
        const random = randomOf(seed);
        const dying = [1, 2].map((at) => start({ working_ms: random() * 150 }, at));
        const survivor = await start({}, 0);
        expect(survivor.code, survivor.stderr).toBe(0);
        for (const { lines } of [...(await Promise.all(dying)), survivor]) history.witness.hear(lines, 0);
        await history.check();
        report({ kills: 2 });
      });
    }
    await history.end();
  });
});
