import { join } from "node:path";
import type { Amount, Store } from "bursar";
import { PostgresStore } from "bursar/postgres";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { type Address, type Child, type Ended, heard, startChild } from "./child.js";
import { temporaryFolder } from "./folder.js";
import { SEED, withSeed } from "./seeds.js";
import { givenServer } from "./server.js";

const folder = await temporaryFolder();
const server = await givenServer();
const prefix = `race_${process.pid}_`;
let places = 0;
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

const PROCESSES = 4;
const KINDS: readonly (readonly [string, () => Address])[] = [
  ["one SQLite file", () => ({ path: join(folder.path, `${places++}.db`) })],
  ["PostgreSQL", () => ({ url: server.url, schema: `${prefix}${places++}` })],
];

function open(address: Address): Promise<Store> {
  return "path" in address ? SqliteStore.open(address) : PostgresStore.open(address);
}

/** Starts the same errand in several processes, and lets them begin together once all are ready. */
async function together(errand: (at: number) => object): Promise<readonly Child[]> {
  const children = Array.from({ length: PROCESSES }, (_, at) => startChild("spend.mjs", errand(at)));
  for (const child of children) await heard(child, ({ opened }) => opened === true);
  for (const child of children) child.send("go");
  return children;
}

async function ends(children: readonly Child[]): Promise<readonly Ended["lines"][]> {
  const all = await Promise.all(children.map(({ over }) => over));
  for (const { code, stderr } of all) expect(code, stderr).toBe(0);
  return all.map(({ lines }) => lines);
}

describe.each(KINDS)("four processes on %s", (_name, place) => {
  test("with 250 callers each let exactly 50 of them have a tenth of 5 dollars", async () => {
    const address = place();
    await using store = await open(address);
    const limits = { cost_usd: 5_000_000_000 as Amount };
    await store.apply([
      { op: "open", parent: null, opening: { id: "five", scope: "shared", grant: { kind: "limits", limits } } },
    ]);

    const said = await ends(await together(() => ({ what: "race", address, budget: "five", callers: 250 })));

    expect(said.flat().reduce((sum, { passed = 0 }) => sum + passed, 0)).toBe(50);
    expect(said.flat().reduce((sum, { waiting = 0 }) => sum + waiting, 0)).toBe(0);
    const budget = await store.budget("five");
    expect([budget?.used.cost_usd, budget?.reserved.cost_usd]).toEqual([5_000_000_000, 0]);
  });

  test("can open what was not there at the same time", async () => {
    const address = place();
    await ends(await together((at) => ({ what: "spread", address, name: `${at}`, seed: at, lists: 0 })));
    await using store = await open(address);
    expect(await store.budget("none")).toBeNull();
  });

  test("count 10,000 budgets to the last billionth", async () => {
    const address = place();
    await using store = await open(address);
    const opening = (id: string) => ({ id, scope: "shared", grant: { kind: "limits", limits: {} } }) as const;
    await store.apply([{ op: "open", parent: null, opening: opening("all") }]);
    const budgets = Array.from({ length: 10_000 }, (_, at) => `budget-${at}`);
    const lists = Array.from({ length: 20 }, (_, at) => budgets.slice(at * 500, (at + 1) * 500));
    await Promise.all(
      lists.map((ids) => store.apply(ids.map((id) => ({ op: "open", parent: "all", opening: opening(id) }) as const))),
    );
    await withSeed(SEED, async () => {
      const errand = (at: number) => ({
        what: "spread",
        address,
        seed: SEED + at,
        name: `spread-${at}`,
        lists: 30,
        length: 40,
        budgets: budgets.length,
      });

      const said = await ends(await together(errand));

      const sums = new Map<string, number>();
      for (const [id, sum] of said.flat().flatMap((line) => Object.entries(line.sums ?? {}))) {
        sums.set(id, (sums.get(id) ?? 0) + sum);
        sums.set("all", (sums.get("all") ?? 0) + sum);
      }
      const read = await Promise.all([...sums.keys()].map(async (id) => [id, (await store.budget(id))?.used.cost_usd]));
      expect(new Map(read as [string, number][])).toEqual(sums);
      expect((await store.budget("all"))?.used.steps).toBe(PROCESSES * 30 * 40);
    });
  });
});

describe("four processes on one SQLite file", () => {
  test("are fair to each other", async () => {
    const address = { path: join(folder.path, `${places++}.db`) };
    await using store = await open(address);
    await store.apply([
      { op: "open", parent: null, opening: { id: "all", scope: "shared", grant: { kind: "limits", limits: {} } } },
    ]);
    const children = await together((at) => ({
      what: "compete",
      address,
      budget: "all",
      name: `compete-${at}`,
      callers: 4,
    }));
    const counts = () =>
      children.map((child) => child.lines().reduce((most, { count = 0 }) => Math.max(most, count), 0));
    const total = (all: readonly number[]) => all.reduce((sum, each) => sum + each, 0);
    while (total(counts()) < 4_000) await new Promise((resolve) => setTimeout(resolve, 50));
    const done = counts();
    for (const child of children) child.send("stop");
    await ends(children);

    // A fair share is a quarter. A process that is starved has next to nothing.
    for (const count of done) expect(count, `of ${done.join(", ")}`).toBeGreaterThan(total(done) / 16);
  });
});
