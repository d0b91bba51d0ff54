import { openBursar, openStore, Sweeper } from "bursar";
import { openServer } from "bursar/server";
import { openHousekeeping } from "bursar/store";
import { describe, expect, test } from "vitest";
import { amounts, ENDED_RUN, OPEN_RUN, SESSION } from "./filled.js";
import { bothEngines, filled } from "./housed.js";

const { sqlite, server } = await bothEngines();
const ENGINES = [
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const;

/** Samples until all chains have had their turn, and gives back what was told. */
async function round(url: string): Promise<{ budgets: number; told: string[] }> {
  const told: string[] = [];
  await using store = await openStore(url);
  await using housekeeping = openHousekeeping(url);
  const check = await housekeeping.sample();
  using sweeper = new Sweeper({ store, check, differs: ({ where, problem }) => told.push(`${where}: ${problem}`) });
  while (sweeper.checks.rounds === 0) await sweeper.sample();
  expect(sweeper.checks.differences).toBe(told.length);
  return { budgets: sweeper.checks.budgets, told };
}

describe.for(ENGINES)("a sweeper on %s", ([, engine]) => {
  test("has nothing to say of a sound store, and comes by all budgets", async () => {
    expect(await round(await filled(engine))).toEqual({ budgets: 5, told: [] });
  });

  test.for([
    [
      "a refilled budget",
      `UPDATE states SET state = replace(state, '"cost_usd":', '"cost_usd":1') WHERE id = '${ENDED_RUN}'`,
      `budget ${ENDED_RUN}: used.cost_usd is`,
    ],
    [
      "a softened policy",
      `UPDATE budgets SET terms = replace(terms, 'hard_stop', 'soft_warn') WHERE id = '${SESSION}'`,
      `budget ${SESSION}: the link that recorded its opening says the policy`,
    ],
    ["a hold made to vanish", "DELETE FROM calls WHERE id = 'in flight'", "call in flight: is open by the chain"],
    ["a changed link", "UPDATE links SET lines = replace(lines, '0.123456789', '0.023456789')", "its content does not"],
    ["a lost budget", "DELETE FROM budgets WHERE id = 'part'", "budget part: is not there"],
  ] as const)("tells of %s", async ([, sql, problem]) => {
    const url = await filled(engine);
    await engine.tamper(url, sql);
    expect((await round(url)).told.join("\n")).toContain(problem);
  });
});

test("a chain that is longer than a round is read on in the next ones, while it grows", async () => {
  const url = await filled(sqlite);
  await using store = await openStore(url);
  const spend = (from: number, to: number) =>
    store.apply(
      Array.from({ length: to - from }, (_, at) => {
        const used = amounts({ steps: 0 });
        return { op: "charge", budget: OPEN_RUN, call: `more ${from + at}`, used } as const;
      }),
    );
  for (let at = 0; at < 3000; at += 500) await spend(at, at + 500);
  await using housekeeping = openHousekeeping(url);
  using sweeper = new Sweeper({ store, check: await housekeeping.sample() });
  let samples = 0;
  for (; sweeper.checks.rounds === 0; samples++) {
    await sweeper.sample();
    await spend(10_000 + samples * 20, 10_020 + samples * 20);
  }
  expect(samples).toBeGreaterThan(2);
  expect(sweeper.checks).toMatchObject({ budgets: 5, differences: 0 });
});

test("the rest of the process gets its turn while a long chain is read", async () => {
  const url = await filled(sqlite);
  await using store = await openStore(url);
  const used = amounts({ steps: 0 });
  const charges = Array.from({ length: 900 }, (_, at) => {
    return { op: "charge", budget: OPEN_RUN, call: `more ${at}`, used } as const;
  });
  const grant = { kind: "limits", limits: {} } as const;
  const opened = Array.from({ length: 100 }, (_, at) => {
    return { op: "open", parent: OPEN_RUN, opening: { id: `below ${at}`, scope: "run", grant } } as const;
  });
  await store.apply([...charges, ...opened]);
  await using housekeeping = openHousekeeping(url);
  const check = await housekeeping.sample();
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  while (!(await check.next()).isRound);
  isOver = true;
  // Once for each 100 links, and once for each 10 budgets.
  expect(turns).toBeGreaterThanOrEqual(20);
});

test("what was checked stands in /metrics", async () => {
  const url = sqlite.fresh();
  await using store = await openStore(url);
  const opening = { id: "b", scope: "shared", grant: { kind: "limits", limits: amounts({ steps: 5 }) } } as const;
  await store.apply([{ op: "open", parent: null, opening }]);
  await sqlite.tamper(url, "UPDATE states SET ended = 1");
  await using housekeeping = openHousekeeping(url);
  using sweeper = new Sweeper({ store, check: await housekeeping.sample() });
  await sweeper.sample();
  const bursar = await openBursar({ store });
  await using serving = await openServer({ store, bursar, port: 0, checks: () => sweeper.checks });
  const text = await (await fetch(`${serving.url}/metrics`)).text();
  expect(text).toMatch(/^bursar_store_check_budgets_total 1$/m);
  expect(text).toMatch(/^bursar_store_check_differences_total 1$/m);
  expect(text).toMatch(/^bursar_store_check_rounds_total 1$/m);
  expect(text).toMatch(/^bursar_store_check_last_timestamp_seconds \d/m);
});
