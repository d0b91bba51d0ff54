import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { LeasingStore } from "bursar/lease";
import { PostgresStore } from "bursar/postgres";
import driver from "postgres";
import { type Measured, measureAsync } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { startServer } from "./server.js";
import { Runs, rate } from "./steps.js";

const CALLERS = 64;
const WORKERS = 16;
const MAX_STEP = 2;
const MIN_BATCH = 10;
const MIN_LEASE = 100;
const MAX_GROWTH = 1.5;
const NS = 1e9;
const WARM_UP_STEPS = 2000;
const BODY = "x".repeat(400);

export const postgres: Bench = {
  name: "store-postgres",
  about: "a full durable step on PostgreSQL, against a transaction that inserts one row; one hot budget",
  async run(quick) {
    await using server = await startServer();
    const schema = `bench_${process.pid}`;
    await using store = await PostgresStore.open({ url: server.url, schema });
    await using rows = await Rows.open(server.url, schema);
    const runs = await Runs.open(store, "", CALLERS);
    const alone = await measureAlone(rows, runs, quick ? 100 : 1500);
    const hot = await measureHot(store, { url: server.url, schema }, quick);
    const growth = await measureGrowth(server.url, schema, quick);
    return {
      tables: [
        { title: "one caller at a time, ratio to a one-row transaction", rows: alone },
        { title: `${CALLERS} callers, one hot budget, per call, ratio to direct`, rows: hot },
        { title: "one caller at a time, ratio to the smallest store", rows: growth },
      ],
      bars: bars(alone, hot, growth),
    };
  },
};

function bars(alone: readonly Measured[], hot: readonly Measured[], growth: readonly Measured[]): readonly Bar[] {
  const step = alone[1]?.ratio ?? Number.NaN;
  const faster = (index: number) => 1 / (hot[index]?.ratio ?? Number.NaN);
  const grown = growth.at(-1)?.ratio ?? Number.NaN;
  const least = (name: string, value: number, bar: number) => ({
    name,
    measured: `${value.toFixed(0)} x the direct rate, at least ${bar}`,
    met: value >= bar,
  });
  return [
    {
      name: "a full step",
      measured: `${step.toFixed(2)} x a one-row transaction, at most ${MAX_STEP}`,
      met: step <= MAX_STEP,
    },
    least("batching on one hot budget", faster(2), MIN_BATCH),
    least("leases on one hot budget", faster(3), MIN_LEASE),
    {
      name: "cost from the smallest store to the largest",
      measured: `${grown.toFixed(2)} x, at most ${MAX_GROWTH}`,
      met: grown <= MAX_GROWTH,
    },
  ];
}

async function measureAlone(rows: Rows, runs: Runs, rounds: number): Promise<readonly Measured[]> {
  let turns = 0;
  for (; turns < WARM_UP_STEPS; turns++) await runs.step(turns % CALLERS);
  const step = async () => void (await runs.step(turns++ % CALLERS));
  return measureAsync(
    [
      { name: "baseline: insert one row", operations: 1, run: () => rows.insert() },
      { name: "commit + journal + reserve, depth 4, 8 limits, 2 links", operations: 1, run: step },
    ],
    rounds,
    () => {},
  );
}

/**
 * Whole calls, reserve and commit, in a budget that all callers share. Rates are turned into time per call. The baseline is
 * what there is without batches and leases: workers that know nothing of each other, and meet at the same rows.
 */
async function measureHot(
  store: PostgresStore,
  address: { url: string; schema: string },
  quick: boolean,
): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), "bursar-bench-leases-"));
  const runs = await Runs.open(store, "hot-", 1);
  const workers: PostgresStore[] = [];
  for (let at = 0; at < WORKERS; at++) workers.push(await PostgresStore.open({ ...address, batch: 1 }));
  await using queued = await PostgresStore.open({ ...address, batch: 1 });
  await using lease = await LeasingStore.open({ store, budgets: ["hot-session"] });
  await using logged = await LeasingStore.open({ store, budgets: ["hot-session"], log: folder });
  const ms = quick ? 300 : 1500;
  const each = (name: string, target: (caller: number) => PostgresStore | LeasingStore) => ({
    name,
    run: () => rate(CALLERS, ms, (caller) => runs.call(target(caller))),
  });
  const variants = [
    each("baseline: direct, 16 workers", (caller) => workers[caller % WORKERS] as PostgresStore),
    each("one worker, one by one", () => queued),
    each("one worker, batches", () => store),
    each("leases", () => lease),
    each("leases, proved by a synced log", () => logged),
  ];
  const rounds: number[][] = [];
  for (let round = 0; round < (quick ? 3 : 9); round++) {
    const rates: number[] = [];
    for (const { run } of variants) rates.push(await run());
    rounds.push(rates);
  }
  rmSync(folder, { recursive: true, force: true });
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  return variants.map(({ name }, index) => {
    const times = rounds.map((rates) => NS / (rates[index] as number)).toSorted((a, b) => a - b);
    const ratios = rounds.map((rates) => (rates[0] as number) / (rates[index] as number)).toSorted((a, b) => a - b);
    const middle = Math.floor(rounds.length / 2);
    return {
      name,
      medianNs: times[middle] as number,
      p10Ns: times[0] as number,
      ratio: ratios[middle] as number,
    };
  });
}

/** The same steps in stores that are already full of other budgets, calls and links. */
async function measureGrowth(url: string, schema: string, quick: boolean): Promise<readonly Measured[]> {
  const stores: PostgresStore[] = [];
  const variants = [];
  for (const size of quick ? [100, 10_000] : [100, 10_000, 1_000_000]) {
    const full = `${schema}_${size}`;
    const store = await PostgresStore.open({ url, schema: full });
    stores.push(store);
    const runs = await Runs.open(store, "", CALLERS);
    await fill(url, full, size);
    const run = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await runs.step(turn % CALLERS);
    };
    variants.push({ name: `${size} budgets and links there before`, operations: 10, run });
  }
  const measured = await measureAsync(variants, quick ? 10 : 60, () => {});
  for (const store of stores) await store[Symbol.asyncDispose]();
  return measured;
}

/** Copies a real budget, call and link as often as it takes. */
async function fill(url: string, schema: string, size: number): Promise<void> {
  const sql = driver(url, { max: 1, connection: { search_path: schema }, onnotice: () => {} });
  const copy = (table: string, columns: string, values: string, key: string) =>
    sql.unsafe(
      `INSERT INTO ${table} (${columns})
       SELECT ${values} FROM generate_series(1, ${size}) AS n, (SELECT * FROM ${table} WHERE ${key}) AS seed`,
    );
  await copy(
    "budgets",
    "id, parent, chain, origin, terms",
    "'full-' || n, NULL, 'full-' || n, 'full-' || n || '#0', terms",
    "id = 'tenant'",
  );
  await copy("states", "id, state, ended, version", "'full-' || n, state, ended, version", "id = 'tenant'");
  await copy("heads", "chain, seq, hash, grown", "'full-' || n, seq, hash, 0", "chain = 'tenant'");
  await copy("links", "chain, seq, lines", "'full-' || n, seq, lines", "chain = 'tenant' AND seq = 0");
  await copy(
    "calls",
    "id, budget, kind, status, expires, body, version",
    "'full-' || n, 'full-' || n, kind, 'committed', expires, body, version",
    "id = 'run-0/0'",
  );
  await sql.end();
}

/** A table with one row for every transaction. */
class Rows implements AsyncDisposable {
  private readonly sql: driver.Sql;
  private count = 0;

  static async open(url: string, schema: string): Promise<Rows> {
    const sql = driver(url, { max: 1, connection: { search_path: schema }, onnotice: () => {} });
    await sql.unsafe("CREATE TABLE bench_rows (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
    return new Rows(sql);
  }

  private constructor(sql: driver.Sql) {
    this.sql = sql;
  }

  async insert(): Promise<void> {
    const row = [`row-${this.count++}`, BODY];
    await this.sql.unsafe("INSERT INTO bench_rows (id, body) VALUES ($1, $2)", row, { prepare: true });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.sql.end();
  }
}
