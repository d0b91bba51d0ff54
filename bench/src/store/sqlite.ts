import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { monitorEventLoopDelay } from "node:perf_hooks";
import { SqliteStore } from "bursar/sqlite";
import { type Database, openDatabase, type Statement } from "../../../packages/bursar/dist/stores/sqlite/driver.js";
import { type Measured, measureAsync } from "../measure.js";
import type { Bar, Bench } from "../report.js";
import { Runs } from "./steps.js";

const CALLERS = 64;
/** A full step is three operations: commit, journal, reserve. */
const OPERATIONS_PER_STEP = 3;
const MAX_ALONE = 1.6;
const MAX_GROUP = 3.5;
const MAX_DELAY_MS = 10;
const MAX_GROWTH = 1.5;
const NS_PER_MS = 1e6;
const WARM_UP_STEPS = 2000;
const BODY = "x".repeat(400);

export const sqlite: Bench = {
  name: "store-sqlite",
  about: "a full durable step on SQLite, against a transaction that inserts one row",
  async run(quick) {
    const folder = mkdtempSync(join(tmpdir(), "bursar-bench-"));
    try {
      const raw = new Rows(join(folder, "raw.db"));
      await using store = await SqliteStore.open({ path: join(folder, "store.db") });
      const runs = await Runs.open(store, "", 2 * CALLERS);
      const alone = await measureAlone(raw, store, runs, quick ? 100 : 1500);
      const group = await measureGroups(raw, runs, quick ? 10 : 100);
      const delay = await measureDelay(runs, quick ? 20 : 200);
      raw.close();
      const growth = await measureGrowth(folder, quick);
      return {
        tables: [
          { title: "one caller at a time, ratio to a one-row transaction", rows: alone },
          { title: `${CALLERS} callers at once, per operation, ratio to ${CALLERS} rows in one`, rows: group },
          { title: "one caller at a time, ratio to the smallest store", rows: growth },
        ],
        bars: bars(alone, group, delay, growth),
      };
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

function bars(
  alone: readonly Measured[],
  group: readonly Measured[],
  delay: number,
  growth: readonly Measured[],
): readonly Bar[] {
  const ratio = (rows: readonly Measured[]) => rows.at(-1)?.ratio ?? Number.NaN;
  const bar = (name: string, value: number, most: number, unit: string) => ({
    name,
    measured: `${value.toFixed(2)} ${unit}, at most ${most}`,
    met: value <= most,
  });
  return [
    bar("a full step, every caller alone", ratio(alone), MAX_ALONE, "x a one-row transaction"),
    bar("an operation in group commit, 64 callers in one run", group[1]?.ratio ?? Number.NaN, MAX_GROUP, "x a row"),
    bar("event-loop delay with 128 callers, p99", delay, MAX_DELAY_MS, "ms"),
    bar("cost from the smallest store to the largest", ratio(growth), MAX_GROWTH, "x"),
  ];
}

/**
 * One of each in turn, because two files that are synced by turns wait for each other on most file systems. The look, which writes
 * nothing, shows what the thread of its own takes that keeps the event loop free.
 */
async function measureAlone(raw: Rows, store: SqliteStore, runs: Runs, rounds: number): Promise<readonly Measured[]> {
  const operations = 1;
  let turns = 0;
  for (; turns < WARM_UP_STEPS; turns++) await runs.step(turns % CALLERS);
  const step = async () => void (await runs.step(turns++ % CALLERS));
  return measureAsync(
    [
      { name: "baseline: insert one row", operations, run: () => raw.insert(1) },
      { name: "to the store's thread and back", operations, run: async () => void (await store.head("none")) },
      {
        name: "commit + journal + reserve, depth 4, 8 limits, 2 links",
        operations,
        run: step,
      },
    ],
    rounds,
    () => {},
  );
}

async function measureGroups(raw: Rows, runs: Runs, rounds: number): Promise<readonly Measured[]> {
  const turns = 4;
  const together = (runOf: (caller: number) => number) => async () => {
    const caller = async (_: unknown, index: number) => {
      for (let turn = 0; turn < turns; turn++) await runs.step(runOf(index));
    };
    await Promise.all(Array.from({ length: CALLERS }, caller));
  };
  const operations = CALLERS * turns * OPERATIONS_PER_STEP;
  const insert = () => {
    for (let turn = 0; turn < turns * OPERATIONS_PER_STEP; turn++) raw.insert(CALLERS);
  };
  return measureAsync(
    [
      { name: "baseline: 64 rows in one transaction, per row", operations, run: insert },
      { name: "an operation, all callers in one run", operations, run: together(() => 0) },
      { name: "an operation, each caller in a run of its own", operations, run: together((caller) => caller) },
    ],
    rounds,
    () => {},
  );
}

/** How late the event loop was at worst for 99 of 100 turns, while callers kept the store busy. */
async function measureDelay(runs: Runs, turns: number): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  await Promise.all(
    Array.from({ length: 2 * CALLERS }, async (_, caller) => {
      for (let turn = 0; turn < turns; turn++) await runs.step(caller);
    }),
  );
  delay.disable();
  return delay.percentile(99) / NS_PER_MS;
}

/** The same steps in stores that are already full of other budgets, calls and links. */
async function measureGrowth(folder: string, quick: boolean): Promise<readonly Measured[]> {
  const sizes = quick ? [100, 10_000] : [100, 10_000, 1_000_000];
  await using stack = new Open();
  const variants = [];
  for (const size of sizes) {
    const path = join(folder, `full-${size}.db`);
    await fill(path, size);
    const store = stack.use(await SqliteStore.open({ path }));
    const runs = await Runs.open(store, "", CALLERS);
    const run = async (count: number) => {
      for (let turn = 0; turn < count; turn++) await runs.step(turn % CALLERS);
    };
    variants.push({ name: `${size} budgets and links there before`, operations: 10, run });
  }
  return await measureAsync(variants, quick ? 10 : 60, () => {});
}

/** What `await using` needs for a list; Node 20 has no class for it yet. */
class Open implements AsyncDisposable {
  private readonly resources: AsyncDisposable[] = [];

  use<Resource extends AsyncDisposable>(resource: Resource): Resource {
    this.resources.push(resource);
    return resource;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const resource of this.resources) await resource[Symbol.asyncDispose]();
  }
}

/** Copies a real budget, call and link as often as it takes. */
async function fill(path: string, size: number): Promise<void> {
  await using store = await SqliteStore.open({ path });
  await Runs.open(store, "seed-", 1);
  const database = open(path);
  const numbers = `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${size})`;
  const copy = (table: string, columns: string, values: string, key: string) =>
    database.exec(
      `${numbers} INSERT INTO ${table} (${columns}) SELECT ${values} FROM numbers, (SELECT * FROM ${table} WHERE ${key}) AS seed`,
    );
  copy(
    "budgets",
    "id, parent, chain, origin, terms",
    "'full-' || n, NULL, 'full-' || n, 'full-' || n || '#0', terms",
    "id = 'seed-tenant'",
  );
  copy("states", "id, state, ended, version", "'full-' || n, state, ended, version", "id = 'seed-tenant'");
  copy("heads", "chain, seq, hash, grown", "'full-' || n, seq, hash, 0", "chain = 'seed-tenant'");
  copy("links", "chain, seq, lines", "'full-' || n, seq, lines", "chain = 'seed-tenant' AND seq = 0");
  copy(
    "calls",
    "id, budget, kind, status, expires, body, version",
    "'full-' || n, 'full-' || n, kind, 'committed', expires, body, version",
    "id = 'seed-run-0/0'",
  );
  database.close();
}

/** A table with one row for every transaction, as durable as ours. */
class Rows {
  private readonly database: Database;
  private readonly statement: Statement;
  private count = 0;

  constructor(path: string) {
    this.database = open(path);
    this.database.exec("CREATE TABLE rows (id TEXT PRIMARY KEY, body TEXT NOT NULL)");
    this.statement = this.database.prepare("INSERT INTO rows (id, body) VALUES (?, ?)");
  }

  insert(rows: number): void {
    if (rows > 1) this.database.exec("BEGIN IMMEDIATE");
    for (let row = 0; row < rows; row++) this.statement.run(`row-${this.count++}`, BODY);
    if (rows > 1) this.database.exec("COMMIT");
  }

  close(): void {
    this.database.close();
  }
}

/** The same SQLite that the store uses, with the same care for the disk. */
function open(path: string): Database {
  const database = openDatabase(path);
  database.exec("PRAGMA journal_mode = WAL");
  database.exec("PRAGMA synchronous = FULL");
  return database;
}
