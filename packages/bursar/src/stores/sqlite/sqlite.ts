import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { Budget, BudgetId, Path } from "../../core/budget.js";
import type { Call } from "../../core/call.js";
import type { Head } from "../../core/chain/link.js";
import { type Dimensions, STANDARD } from "../../core/dimensions.js";
import type { Document, DocumentKind, Entry } from "../../core/document.js";
import { InputError, show } from "../../core/errors.js";
import { memberPaths } from "../../core/members.js";
import type { Operation } from "../../core/operation.js";
import type { Clock } from "../../ports/clock.js";
import type { Beginning, Latest, Oldest, Outcomes, Store, Topic } from "../../ports/store.js";
import { systemClock } from "../../runtime/system-clock.js";
import { StoreError } from "../durable/errors.js";
import { streamLines } from "../durable/lines.js";
import { frees, queues, waits } from "../freeing.js";
import { Listeners } from "../listeners.js";
import type { Lookups } from "./messages.js";
import { makePrivate } from "./private-file.js";
import { Thread } from "./thread.js";

export { StoreError, type StoreFault } from "../durable/errors.js";

export interface SqliteStoreOptions {
  /** The file. It is made when it is not there, with the folders above it. */
  readonly path: string;
  /** The dimensions the store counts; `STANDARD` unless others are given. */
  readonly dimensions?: Dimensions;
  /** The system's clock unless another is given. */
  readonly clock?: Clock;
  /** How long a transaction waits for other processes that use the same file, before it fails: 30,000 unless it is named. */
  readonly patience_ms?: number;
}

/** After somebody was told that a budget is busy, changes of other processes are looked for so long. */
const WAITING_MS = 60_000;

/**
 * A store in one file: durable, for any number of processes of one machine. Budgets, calls and chains are written in a
 * thread of its own, so that the event loop never waits for the disk; callers at the same time share one sync.
 *
 * @example
 * ```ts
 * await using store = await SqliteStore.open({ path: "bursar.db" });
 * const gate = new Gate({ store });
 * ```
 */
export class SqliteStore implements Store {
  readonly dimensions: Dimensions;
  readonly file: string;
  readonly clock: Clock;
  private readonly listeners = new Listeners();
  private readonly thread: Thread;
  private resting: NodeJS.Timeout | null = null;

  /** Opens the file, or makes it, and brings its tables up to date. */
  static async open(options: SqliteStoreOptions): Promise<SqliteStore> {
    const path = options?.path;
    if (typeof path !== "string" || path === "") {
      throw new InputError("path", `is ${show(path)}; allowed: the path of a file`);
    }
    const store = new SqliteStore({ ...options, path: resolve(path) });
    await store.thread.ready();
    return store;
  }

  private constructor({ path, dimensions = STANDARD, clock = systemClock, patience_ms = 30_000 }: SqliteStoreOptions) {
    this.dimensions = dimensions;
    this.clock = clock;
    this.file = path;
    makeFolder(path);
    makePrivate(path);
    // Names our clock in the tables, so that running time is not compared with a reading of another process's.
    const start = { path, dimensions: dimensions.all, reading: { ...clock.now(), clock: randomUUID() }, patience_ms };
    this.thread = new Thread(start, () => this.listeners.tell());
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    if (!Array.isArray(operations)) {
      throw new InputError("operations", `are ${show(operations)}; allowed: a list of operations`);
    }
    const outcomes = await this.thread.apply(operations, this.clock.now());
    if (outcomes.some(frees)) this.listeners.tell("amounts");
    if (outcomes.some(queues)) this.listeners.tell("runs");
    if (outcomes.some(waits)) this.expectChange();
    return outcomes as unknown as Outcomes<Ops>;
  }

  async budget(id: BudgetId): Promise<Budget | null> {
    return (await this.path(id))[0] ?? null;
  }

  async path(id: BudgetId): Promise<Path> {
    return this.find("path", { id });
  }

  chain(id: string, from = 0): AsyncIterable<string> {
    return streamLines(from, (at) => this.find("lines", { chain: id, from: at }));
  }

  async head(chain: string): Promise<Head | null> {
    return this.find("head", { chain });
  }

  async document(kind: DocumentKind, id: string): Promise<Document | null> {
    return this.find("document", { kind, id });
  }

  async *documents(kind: DocumentKind, status?: string): AsyncIterable<Document> {
    for (let after = ""; ; ) {
      const page = await this.find("documents", { kind, status: status ?? null, after });
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }

  latest(kind: DocumentKind, { before, ...wanted }: Latest): AsyncIterable<Document> {
    return this.inOrder(kind, "latest", before, wanted);
  }

  oldest(kind: DocumentKind, { after, ...wanted }: Oldest): AsyncIterable<Document> {
    return this.inOrder(kind, "oldest", after, wanted);
  }

  beginning(kind: DocumentKind, { prefix, status, limit, after, only }: Beginning): AsyncIterable<Document> {
    const paths = only === undefined ? null : memberPaths(only);
    return inPages(after, limit, (from, left) =>
      this.find("beginning", { kind, prefix, status: status ?? null, after: from ?? "", limit: left, paths }),
    );
  }

  counts(kind: DocumentKind): Promise<Readonly<Record<string, number>>> {
    return this.find("counts", { kind });
  }

  async *heldCalls(): AsyncIterable<Call> {
    for (let after = ""; ; ) {
      const page = await this.find("held", { after });
      yield* page;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.id;
    }
  }

  get outlivesProcess(): boolean {
    return true;
  }

  async *journal(run: string): AsyncIterable<Entry> {
    for (let after = 0; ; ) {
      const page = await this.find("journal", { run, after });
      for (const { entry } of page) yield entry;
      const last = page.at(-1);
      if (last === undefined) return;
      after = last.seq;
    }
  }

  async entry(run: string, key: string): Promise<Entry | null> {
    return this.find("entry", { run, key });
  }

  watch(listener: () => void, topic: Topic = "amounts"): Disposable {
    const listening = this.listeners.add(listener, topic);
    if (topic === "amounts") return listening;
    // Runs are queued by other processes as well, at any time.
    this.thread.send("watch");
    return {
      [Symbol.dispose]: () => {
        listening[Symbol.dispose]();
        this.mayRest();
      },
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listeners.clear();
    if (this.resting !== null) clearTimeout(this.resting);
    await this.thread.close();
  }

  private find<What extends keyof Lookups>(what: What, asked: Lookups[What]["asked"]): Promise<Lookups[What]["found"]> {
    return this.thread.find(what, asked, this.clock.now());
  }

  /** Somebody waits for amounts, and it may be another process that gives them back. */
  private expectChange(): void {
    if (this.resting === null) this.thread.send("watch");
    else clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.resting = null;
      this.mayRest();
    }, WAITING_MS).unref();
  }

  /** Other processes are looked at no longer, when there is no listener left that has to know. */
  private mayRest(): void {
    if (this.resting === null && !this.listeners.has("runs")) this.thread.send("rest");
  }

  private inOrder(
    kind: DocumentKind,
    order: "latest" | "oldest",
    place: string | undefined,
    { status = null, limit, only }: { status?: string | undefined | null; limit: number; only?: Latest["only"] },
  ): AsyncIterable<Document> {
    const paths = only === undefined ? null : memberPaths(only);
    return inPages(place, limit, (from, left) =>
      this.find("ordered", { kind, order, status, beyond: from, limit: left, paths }),
    );
  }
}

/** Page after page, each from the last document of the one before. */
async function* inPages(
  from: string | undefined,
  limit: number,
  read: (from: string | null, left: number) => Promise<readonly Document[]>,
): AsyncIterable<Document> {
  let place = from ?? null;
  for (let left = limit; left > 0; ) {
    const page = await read(place, left);
    yield* page;
    const last = page.at(-1);
    if (last === undefined) return;
    place = last.id;
    left -= page.length;
  }
}

function makeFolder(path: string): void {
  const folder = dirname(path);
  try {
    mkdirSync(folder, { recursive: true });
  } catch (cause) {
    throw new StoreError("store_denied", `the folder ${folder} cannot be made: choose another, or make it writable`, {
      cause,
    });
  }
}
