import { randomUUID } from "node:crypto";
import type { Budget, BudgetId, Path } from "../../core/budget.js";
import type { Call } from "../../core/call.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import type { Head } from "../../core/chain/link.js";
import { checkOperation } from "../../core/check.js";
import { type Dimensions, STANDARD } from "../../core/dimensions.js";
import type { Document, DocumentKind, Entry } from "../../core/document.js";
import { InputError, show } from "../../core/errors.js";
import { memberPaths } from "../../core/members.js";
import type { Operation, Outcome } from "../../core/operation.js";
import type { Clock } from "../../ports/clock.js";
import type { Beginning, Latest, Oldest, Outcomes, Store, Topic } from "../../ports/store.js";
import { refuseArchived, StoreError } from "../durable/errors.js";
import { type Stretch, streamLines, stretchesFrom } from "../durable/lines.js";
import {
  type BudgetRow,
  type CallRow,
  type DocumentRow,
  endOf,
  type Reading,
  readAccount,
  readCall,
  readDocument,
  readPart,
  TABLES,
} from "../durable/rows.js";
import { frees, queues, waits } from "../freeing.js";
import { Listeners } from "../listeners.js";
import { Batches } from "./batch.js";
import { type Address, connect, migrate, serverName } from "./connect.js";
import { explain, isAway } from "./faults.js";
import { Lanes } from "./lanes.js";
import { Mirror } from "./mirror.js";
import { News } from "./news.js";
import { Planner } from "./planner.js";
import { Line, Pool, Silent } from "./pool.js";
import { serverClock } from "./server-clock.js";
import { Solos } from "./solos.js";

export interface PostgresStoreOptions {
  /** As `postgres://user:password@host:5432/database`. */
  readonly url: string;
  /** Where the tables stand: `bursar` unless it says otherwise. */
  readonly schema?: string;
  readonly dimensions?: Dimensions;
  /** The server's own clock unless another is given. */
  readonly clock?: Clock;
  /** How many transactions of this process may be under way at once: 4 unless it says otherwise. */
  readonly connections?: number;
  /** How many callers share one transaction at most: 128 unless it says otherwise; 1 switches batching off. */
  readonly batch?: number;
  /** How long to wait for a server that does not answer: 15,000 unless it says otherwise. */
  readonly patience_ms?: number;
  /** Whether the process may end while the store is open; whoever waits for an answer has to keep it alive himself: false. */
  readonly quiet?: boolean;
}

const PAGE = 500;
const PATIENCE_MS = 15_000;

const PATH = `
  WITH RECURSIVE path AS (
    SELECT accounts.*, 0 AS depth FROM accounts WHERE id = $1
    UNION ALL
    SELECT accounts.*, path.depth + 1 FROM accounts JOIN path ON accounts.id = path.parent
  )
  SELECT * FROM path ORDER BY depth`;

/**
 * A store for many machines. Decisions are made here and carried out there in one round trip, only if nothing they are
 * based on has changed; callers at the same time share a transaction.
 *
 * @example
 * ```ts
 * await using store = await PostgresStore.open({ url: "postgres://bursar@localhost/bursar" });
 * const gate = new Gate({ store });
 * ```
 */
export class PostgresStore implements Store {
  readonly dimensions: Dimensions;
  private readonly server: Pool;
  private readonly solos: Solos;
  private readonly name: string;
  readonly clock: Clock;
  private readonly clock_id = randomUUID();
  private readonly lanes: Lanes;
  private readonly listeners = new Listeners();
  private readonly news: News;
  private underWay = 0;
  private closed = false;

  /** Connects, and makes the tables or brings them up to date. */
  static async open(options: PostgresStoreOptions): Promise<PostgresStore> {
    const { url, schema = "bursar", clock, connections = 4, patience_ms = PATIENCE_MS, quiet = false } = options ?? {};
    checkUrl(url);
    if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
      throw new InputError("schema", `is ${show(schema)}; allowed: lower-case letters, digits and _, at most 63`);
    }
    checkCount(connections, "connections");
    checkCount(options.batch ?? 1, "batch");
    try {
      await using line = lineTo({ url, schema }, patience_ms, quiet);
      const time = clock ?? (await serverClock(line));
      await migrate(line, schema, time.now().instant);
      return new PostgresStore(options, time);
    } catch (error) {
      throw explain(error, serverName(url));
    }
  }

  private constructor(options: PostgresStoreOptions, clock: Clock) {
    const { url, schema = "bursar", dimensions = STANDARD } = options;
    const { connections = 4, batch = 128, patience_ms = PATIENCE_MS, quiet = false } = options;
    this.dimensions = dimensions;
    const line = () => lineTo({ url, schema }, patience_ms, quiet);
    this.server = new Pool(line, connections + 2);
    this.clock = clock;
    this.name = serverName(url);
    const mirror = new Mirror();
    this.solos = new Solos(line);
    const { name, solos } = this;
    const planner = new Planner(dimensions);
    const batches = new Batches({ server: this.server, solos, name, planner, mirror, patience_ms });
    this.lanes = new Lanes(batches, mirror, connections, batch);
    this.news = new News(this.server, (topic) => this.listeners.tell(topic));
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    this.checkOpen();
    if (!Array.isArray(operations) || operations.some((each) => typeof each !== "object" || each === null)) {
      throw new InputError("operations", `are ${show(operations)}; allowed: a list of operations`);
    }
    this.underWay++;
    try {
      const reading = this.reading();
      const sound = soundOf(operations, this.dimensions);
      const outcomes = await new Promise<readonly Outcome[]>((resolve, reject) => {
        this.lanes.take({ operations, sound, reading, resolve, reject });
      });
      if (outcomes.some(frees)) this.tell("amounts");
      if (outcomes.some(queues)) this.tell("runs");
      if (outcomes.some(waits)) this.news.await();
      return outcomes as unknown as Outcomes<Ops>;
    } finally {
      this.underWay--;
    }
  }

  async budget(id: BudgetId): Promise<Budget | null> {
    return (await this.path(id))[0] ?? null;
  }

  async path(id: BudgetId): Promise<Path> {
    const reading = this.reading();
    const rows = await this.rows<BudgetRow>(PATH, [id]);
    return rows.map((row) => readAccount(row, reading).budget);
  }

  chain(id: string, from = 0): AsyncIterable<string> {
    return streamLines(from, async (at) => {
      const found = await this.rows<Stretch>(stretchesFrom("$1", "$1", "$2"), [id, at]);
      if (found[0] === undefined || found[0].seq > at) {
        const sql = "SELECT seq, archived FROM heads WHERE chain = $1";
        refuseArchived(id, at, (await this.rows<{ seq: number; archived: string | null }>(sql, [id]))[0]);
      }
      return found;
    });
  }

  async head(chain: string): Promise<Head | null> {
    const [head] = await this.rows<Head>("SELECT chain, seq, hash FROM heads WHERE chain = $1", [chain]);
    return head === undefined ? null : { chain, seq: head.seq, hash: head.hash };
  }

  async document(kind: DocumentKind, id: string): Promise<Document | null> {
    const [row] = await this.rows<DocumentRow>(`SELECT * FROM ${TABLES[kind]} WHERE id = $1`, [id]);
    return row === undefined ? null : readDocument(kind, row);
  }

  async *documents(kind: DocumentKind, status?: string): AsyncIterable<Document> {
    const only = status === undefined ? "" : "AND status = $2";
    const sql = `SELECT * FROM ${TABLES[kind]} WHERE id > $1 ${only} ORDER BY id LIMIT ${PAGE}`;
    for (let after = ""; ; ) {
      const rows = await this.rows<DocumentRow>(sql, status === undefined ? [after] : [after, status]);
      for (const row of rows) yield readDocument(kind, row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = last.id;
    }
  }

  latest(kind: DocumentKind, { before, ...wanted }: Latest): AsyncIterable<Document> {
    return this.inOrder(kind, "latest", before, wanted);
  }

  oldest(kind: DocumentKind, { after, ...wanted }: Oldest): AsyncIterable<Document> {
    return this.inOrder(kind, "oldest", after, wanted);
  }

  async *beginning(
    kind: DocumentKind,
    { prefix, status, limit, after = "", only }: Beginning,
  ): AsyncIterable<Document> {
    const paths = only === undefined ? null : memberPaths(only);
    const sql = `SELECT ${columns(paths)} FROM ${TABLES[kind]}
      WHERE ${status === undefined ? "" : "status = $5 AND"} id >= $1 AND id < $2 AND id > $3 ORDER BY id LIMIT $4::bigint`;
    let last = after;
    for (let left = limit; left > 0; ) {
      const most = Math.min(left, PAGE);
      const rows = await this.rows<DocumentRow>(sql, [
        prefix,
        endOf(prefix),
        last,
        most,
        ...(status === undefined ? [] : [status]),
      ]);
      for (const row of rows) yield paths === null ? readDocument(kind, row) : readPart(kind, row, paths);
      if (rows.length < most) return;
      last = rows.at(-1)?.id ?? last;
      left -= rows.length;
    }
  }

  private async *inOrder(
    kind: DocumentKind,
    order: "latest" | "oldest",
    place: string | undefined,
    { status, limit, only }: Omit<Latest, "before">,
  ): AsyncIterable<Document> {
    const table = TABLES[kind];
    const paths = only === undefined ? null : memberPaths(only);
    const [direction, further] = order === "latest" ? ["DESC", "<"] : ["ASC", ">"];
    let last = place === undefined ? null : await this.place(table, place);
    if (last === undefined) return;
    for (let left = limit; left > 0; ) {
      const values: (string | number)[] = [Math.min(left, PAGE)];
      const conditions: string[] = [];
      if (status !== undefined) conditions.push(`status = $${values.push(status)}`);
      if (last !== null)
        conditions.push(`(seq, id) ${further} ($${values.push(last.seq)}::bigint, $${values.push(last.id)})`);
      const where = conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`;
      const by = `seq ${direction}, id ${direction}`;
      const sql = `SELECT ${columns(paths)}, seq FROM ${table} ${where} ORDER BY ${by} LIMIT $1::bigint`;
      const rows: readonly (DocumentRow & Place)[] = await this.rows(sql, values);
      for (const row of rows) yield paths === null ? readDocument(kind, row) : readPart(kind, row, paths);
      last = rows.at(-1) ?? null;
      left -= rows.length;
      if (last === null || rows.length < PAGE) return;
    }
  }

  async counts(kind: DocumentKind): Promise<Readonly<Record<string, number>>> {
    const sql = `SELECT status, count(*)::bigint AS count FROM ${TABLES[kind]} GROUP BY status`;
    const rows = await this.rows<{ status: string; count: number }>(sql, []);
    return Object.fromEntries(rows.map(({ status, count }) => [status, count]));
  }

  async *heldCalls(): AsyncIterable<Call> {
    // Apart from the page, because by its order the server would read every call that was ever settled.
    const held = "WITH held AS MATERIALIZED (SELECT * FROM calls WHERE status = 'reserved')";
    const sql = `${held} SELECT * FROM held WHERE id > $1 ORDER BY id LIMIT ${PAGE}`;
    for (let after = ""; ; ) {
      const rows = await this.rows<CallRow>(sql, [after]);
      for (const row of rows) yield readCall(row);
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = last.id;
    }
  }

  get outlivesProcess(): boolean {
    return true;
  }

  async *journal(run: string): AsyncIterable<Entry> {
    const sql = `SELECT seq, key, entry FROM journal WHERE run = $1 AND seq > $2 ORDER BY seq LIMIT ${PAGE}`;
    for (let after = 0; ; ) {
      const rows = await this.rows<{ seq: number; key: string; entry: string }>(sql, [run, after]);
      for (const { key, entry } of rows) yield { run, key, entry: JSON.parse(entry) as JsonObject };
      const last = rows.at(-1);
      if (last === undefined || rows.length < PAGE) return;
      after = last.seq;
    }
  }

  async entry(run: string, key: string): Promise<Entry | null> {
    const sql = "SELECT entry FROM journal WHERE run = $1 AND key = $2";
    const [row] = await this.rows<{ entry: string }>(sql, [run, key]);
    return row === undefined ? null : { run, key, entry: JSON.parse(row.entry) as JsonObject };
  }

  watch(listener: () => void, topic: Topic = "amounts"): Disposable {
    this.news.listen();
    return this.listeners.add(listener, topic);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.listeners.clear();
    while (this.underWay > 0) await new Promise((resolve) => setTimeout(resolve, 5));
    await this.news[Symbol.asyncDispose]();
    await Promise.all([this.solos[Symbol.asyncDispose](), this.server[Symbol.asyncDispose]()]);
  }

  private tell(topic: Topic): void {
    this.listeners.tell(topic);
    this.news.spread(topic);
  }

  /** Where a document stands among all of its kind. */
  private async place(table: string, id: string): Promise<Place | undefined> {
    return (await this.rows<Place>(`SELECT id, seq FROM ${table} WHERE id = $1`, [id]))[0];
  }

  /** Looking changes nothing, so it is tried again when the server was away for a moment. */
  private async rows<Row>(sql: string, values: (string | number)[]): Promise<readonly Row[]> {
    this.checkOpen();
    // No text of PostgreSQL's holds this character, so nothing is called so; it would refuse the question as a fault.
    if (values.some((value) => typeof value === "string" && value.includes("\0"))) return [];
    const ask = () => this.server.ask(sql, values) as Promise<readonly unknown[]> as Promise<readonly Row[]>;
    try {
      return await ask().catch((error: unknown) => {
        if (!isAway(error) || error instanceof Silent) throw error;
        return ask();
      });
    } catch (error) {
      throw explain(error, this.name);
    }
  }

  private checkOpen(): void {
    if (this.closed) throw new StoreError("store_closed", `the store at ${this.name} is closed; open it again`);
  }

  private reading(): Reading {
    const { instant, monotonic } = this.clock.now();
    return { instant, monotonic, clock: this.clock_id };
  }
}

interface Place {
  readonly id: string;
  readonly seq: number;
}

/** What is read of a document: all of it, or some members of its body. */
function columns(paths: readonly (readonly string[])[] | null): string {
  // The server's JSON has no place for the character 0, wherever it stands; in what is wanted here it does not matter.
  const json = "replace(body, '\\u0000', '\\ufffd')::jsonb";
  const wanted = paths?.map((path) => `${json} #> '{${path.join(",")}}'`).join(", ");
  return `id, budget, status, ${wanted === undefined ? "body" : `jsonb_build_array(${wanted})::text AS body`}, version`;
}

function lineTo(address: Address, patience_ms: number, quiet: boolean): Line {
  return new Line((onclose) => connect(address, { lock_ms: patience_ms, onclose, quiet }), patience_ms);
}

/** The operations up to the first that cannot be used, which ends its list when its turn comes. */
function soundOf(operations: readonly Operation[], dimensions: Dimensions): readonly Operation[] {
  for (let at = 0; at < operations.length; at++) {
    try {
      checkOperation(operations[at] as Operation, dimensions);
    } catch {
      return operations.slice(0, at);
    }
  }
  return operations;
}

function checkCount(value: unknown, field: string): void {
  if (!Number.isSafeInteger(value) || (value as number) < 1) {
    throw new InputError(field, `is ${show(value)}; allowed: a whole number from 1 on`);
  }
}

function checkUrl(url: unknown): asserts url is string {
  const known = typeof url === "string" && /^postgres(ql)?:\/\//.test(url) && URL.canParse(url);
  if (!known)
    throw new InputError("url", "is no address of a PostgreSQL server; allowed: postgres://user@host/database");
}
