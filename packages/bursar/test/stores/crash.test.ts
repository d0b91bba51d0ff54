import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/stores/sqlite/driver.js";
import { type Ended, startChild } from "./child.js";
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
    const query = async (sql: string) => {
      const database = openDatabase(path);
      try {
        return database.prepare(sql).all();
      } finally {
        database.close();
      }
    };
    return new History({ path }, open, query);
  });
  await Promise.all(all.map((history) => history.begin()));
  return all;
}

/** Lets a child die, and holds the stores to all that it was told. */
async function crash(all: readonly History[], seed: number, how: { trap?: string; kill_ms?: number }): Promise<Ended> {
  const { trap, kill_ms } = how;
  const stores = all.map((history, place) => history.task(seed * FILES + place));
  const lists = kill_ms === undefined ? 2_000 : 100_000;
  const task = { stores, callers: CALLERS, lists, kill_ms };
  const ended = await startChild("load.mjs", task, trap === undefined ? {} : { trap }).over;
  expect(ended.signal, `it should have been killed: ${ended.stderr}`).toBe("SIGKILL");
  for (const [place, history] of all.entries()) history.witness.hear(ended.lines, place);
  for (const history of all) await history.check();
  return ended;
}

/** A history of crashes of the same files, which is harder than each of them alone. */
async function crashAll(seeds: readonly number[], how: (seed: number) => { trap?: string; kill_ms?: number }) {
  const all = await histories();
  for (const seed of seeds) await withSeed(seed, () => crash(all, seed, how(seed)));
  for (const history of all) await withSeed(seeds[0] ?? 0, () => history.end());
  const acknowledged = all.reduce((sum, { witness }) => sum + witness.acknowledged.length, 0);
  report({ kills: seeds.length, "SQLite files crashed": seeds.length * FILES, "lists acknowledged": acknowledged });
  return acknowledged;
}

function seedsFrom(first: number, count: number): readonly number[] {
  return Array.from({ length: count }, (_, at) => SEED + first + at);
}

describe("a SQLite store whose process is killed", () => {
  test.concurrent.each(POINTS.map((point, index) => [point, index] as const))(
    "at the point %s",
    async (point, index) => {
      // The first of all, then ever later ones.
      const nth = (seed: number) => 1 + Math.floor(randomOf(seed)() * 60);
      const seeds = seedsFrom(index * 1_000, rounds(4));
      const trap = (seed: number) => `kill:${point}:${seed === seeds[0] ? 1 : nth(seed)}`;
      expect(await crashAll(seeds, (seed) => ({ trap: trap(seed) }))).toBeGreaterThan(0);
    },
    patience(),
  );

  test.concurrent.each([0, 1])(
    "at any moment (%i)",
    async (index) => {
      const seeds = seedsFrom(10_000 + index * 100_000, rounds(16));
      const kill_ms = (seed: number) => Math.floor(randomOf(seed)() * 400);
      await crashAll(seeds, (seed) => ({ kill_ms: kill_ms(seed) }));
    },
    patience(),
  );
});
