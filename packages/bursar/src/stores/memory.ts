import { Operations } from "../core/apply.js";
import type { Books } from "../core/books.js";
import type { Budget, BudgetId, Path } from "../core/budget.js";
import type { Call } from "../core/call.js";
import type { Head } from "../core/chain/link.js";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import type { Document, DocumentKind, Entry } from "../core/document.js";
import { checkKeys, checkWhole } from "../core/fields.js";
import { bodyOf, memberOf, memberPaths } from "../core/members.js";
import { MemoryBooks } from "../core/memory-books.js";
import type { Operation } from "../core/operation.js";
import type { Clock } from "../ports/clock.js";
import type { Beginning, Latest, Oldest, Outcomes, Store, Topic } from "../ports/store.js";
import { sha256Hex } from "../runtime/crypto.js";
import { systemClock } from "../runtime/system-clock.js";
import { StoreError } from "./durable/errors.js";
import { frees, queues } from "./freeing.js";
import { Listeners } from "./listeners.js";

export interface MemoryStoreOptions {
  readonly dimensions?: Dimensions;
  readonly clock?: Clock;
  /** How much is kept of what is over. */
  readonly keep?: KeepOptions;
}

/**
 * How much a store in memory keeps, so that a process that runs for months does not grow with every call. `Infinity` keeps everything.
 * Budgets, documents, and the heads of chains are always kept.
 */
export interface KeepOptions {
  /**
   * How many characters the links of all chains may have together, and how many the journals of all runs: 32 Mi. Beyond that, the chains
   * and journals of ended runs are dropped, in the order in which they ended, and then the oldest links of others.
   */
  readonly characters?: number;
  /** How many settled calls are known by their ids, at least: 50,000. One of these that comes again counts once. */
  readonly calls?: number;
}

const KEPT = { characters: 32 * 1024 * 1024, calls: 50_000 } as const;

/** What is done with calls, whose links hold only what the core says of them. */
const LATE: ReadonlySet<Operation["op"]> = new Set(["reserve", "commit", "release", "look"]);

/** A store that lives and dies with the process: for tests, demos, and runs that need no tomorrow. */
export class MemoryStore implements Store {
  readonly dimensions: Dimensions;
  readonly clock: Clock;
  private readonly operations: Operations;
  private readonly books: MemoryBooks;
  private readonly listeners = new Listeners();
  /** Whether links are due. */
  private isBehind = false;

  constructor({ dimensions = STANDARD, clock = systemClock, keep = {} }: MemoryStoreOptions = {}) {
    checkKeys(keep, "keep", Object.keys(KEPT));
    const { characters = KEPT.characters, calls = KEPT.calls } = keep;
    checkLimit(characters, "keep.characters");
    checkLimit(calls, "keep.calls");
    this.books = new MemoryBooks(sha256Hex, { characters, calls });
    this.dimensions = dimensions;
    this.clock = clock;
    this.operations = new Operations(dimensions);
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    const time = this.clock.now();
    const work = (books: Books) => operations.map((operation) => this.operations.applyChecked(books, operation, time));
    const isLate = operations.every((operation) => LATE.has(operation?.op));
    const outcomes = isLate ? this.transactLate(time.instant, work) : this.books.transact(time.instant, work);
    if (outcomes.some(frees)) this.listeners.tell("amounts");
    if (outcomes.some(queues)) this.listeners.tell("runs");
    return outcomes as unknown as Outcomes<Ops>;
  }

  /** Nothing is made durable here, so whoever waits for a decision need not wait until it is written down: that is done when he has it. */
  private transactLate<Result>(instant: number, work: (books: Books) => Result): Result {
    const result = this.books.transactLate(instant, work);
    if (!this.isBehind) {
      this.isBehind = true;
      // What he sends or answers goes at the end of this turn.
      setImmediate(() => setImmediate(() => this.catchUp()));
    }
    return result;
  }

  private catchUp(): void {
    this.isBehind = false;
    this.books.catchUp();
  }

  async budget(id: BudgetId): Promise<Budget | null> {
    return this.books.budget(id);
  }

  async path(id: BudgetId): Promise<Path> {
    return this.books.path(id);
  }

  async *chain(id: string, from = 0): AsyncIterable<string> {
    for (let seq = from; ; seq++) {
      const line = this.books.line(id, seq);
      if (line === undefined) return refuseDropped(this.books.dropped(id), seq);
      yield line;
    }
  }

  /** The last link of a chain that was dropped, after which the others verify (`after` of `verifyChain`); null where none was. */
  dropped(chain: string): Head | null {
    return this.books.dropped(chain) ?? null;
  }

  async head(chain: string): Promise<Head | null> {
    return this.books.head(chain) ?? null;
  }

  async document(kind: DocumentKind, id: string): Promise<Document | null> {
    return this.books.document(kind, id) ?? null;
  }

  async *documents(kind: DocumentKind, status?: string): AsyncIterable<Document> {
    const all = this.books.documentsOf(kind).values();
    const wanted = status === undefined ? [...all] : all.filter((document) => document.status === status);
    yield* wanted.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  latest(kind: DocumentKind, { before, status, ...wanted }: Latest): AsyncIterable<Document> {
    return some(this.books.documentsOf(kind).inOrder(-1, before, status), wanted);
  }

  oldest(kind: DocumentKind, { after, status, ...wanted }: Oldest): AsyncIterable<Document> {
    return some(this.books.documentsOf(kind).inOrder(1, after, status), wanted);
  }

  async *beginning(kind: DocumentKind, { prefix, status, after = "", ...wanted }: Beginning): AsyncIterable<Document> {
    const isWanted = (document: Document) =>
      document.id.startsWith(prefix) && document.id > after && (status === undefined || document.status === status);
    const found = this.books.documentsOf(kind).values().filter(isWanted);
    yield* some(
      found.sort((a, b) => (a.id < b.id ? -1 : 1)),
      wanted,
    );
  }

  async counts(kind: DocumentKind): Promise<Readonly<Record<string, number>>> {
    return this.books.documentsOf(kind).counts();
  }

  async *heldCalls(): AsyncIterable<Call> {
    yield* this.books.heldCalls();
  }

  async *journal(run: string): AsyncIterable<Entry> {
    yield* this.books.journal(run);
  }

  async entry(run: string, key: string): Promise<Entry | null> {
    return this.books.entry(run, key) ?? null;
  }

  watch(listener: () => void, topic: Topic = "amounts"): Disposable {
    return this.listeners.add(listener, topic);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listeners.clear();
  }
}

async function* some(
  documents: Iterable<Document>,
  { limit, only }: Pick<Latest, "limit" | "only">,
): AsyncIterable<Document> {
  const paths = only === undefined ? null : memberPaths(only);
  let left = limit;
  if (left <= 0) return;
  for (const document of documents) {
    const { body } = document;
    const values = paths?.map((path) => memberOf(body, path)) ?? [];
    yield paths === null ? document : { ...document, body: bodyOf(paths, values) };
    if (--left <= 0) return;
  }
}

function checkLimit(value: number, field: string): void {
  if (value !== Number.POSITIVE_INFINITY) checkWhole(value, field, 1, Number.MAX_SAFE_INTEGER);
}

/** Throws where links that are asked for were dropped: to give none would look like a chain without links. */
function refuseDropped(dropped: Head | undefined, from: number): void {
  if (dropped === undefined || from > dropped.seq) return;
  const { chain, seq, hash } = dropped;
  throw new StoreError(
    "store_archived",
    `the links 0 to ${seq} of the chain ${chain} were dropped, for a store in memory keeps so much and no more (\`keep\`); ` +
      `link ${seq + 1} and those behind it can be read, and verify after the hash ${hash}`,
  );
}
