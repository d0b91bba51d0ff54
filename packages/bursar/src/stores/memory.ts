import { Operations } from "../core/apply.js";
import type { Books } from "../core/books.js";
import type { Budget, BudgetId, Path } from "../core/budget.js";
import type { Call } from "../core/call.js";
import type { Head } from "../core/chain/link.js";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import type { Document, DocumentKind, Entry } from "../core/document.js";
import { bodyOf, memberOf, memberPaths } from "../core/members.js";
import { MemoryBooks } from "../core/memory-books.js";
import type { Operation } from "../core/operation.js";
import type { Clock } from "../ports/clock.js";
import type { Beginning, Latest, Oldest, Outcomes, Store, Topic } from "../ports/store.js";
import { sha256Hex } from "../runtime/crypto.js";
import { systemClock } from "../runtime/system-clock.js";
import { frees, queues } from "./freeing.js";
import { Listeners } from "./listeners.js";

export interface MemoryStoreOptions {
  readonly dimensions?: Dimensions;
  readonly clock?: Clock;
}

/** What is done with calls, whose links hold only what the core says of them. */
const LATE: ReadonlySet<Operation["op"]> = new Set(["reserve", "commit", "release"]);

/** A store that lives and dies with the process: for tests, demos, and runs that need no tomorrow. */
export class MemoryStore implements Store {
  readonly dimensions: Dimensions;
  readonly clock: Clock;
  private readonly operations: Operations;
  private readonly books = new MemoryBooks(sha256Hex);
  private readonly listeners = new Listeners();
  /** Whether links are due. */
  private isBehind = false;

  constructor({ dimensions = STANDARD, clock = systemClock }: MemoryStoreOptions = {}) {
    this.dimensions = dimensions;
    this.clock = clock;
    this.operations = new Operations(dimensions);
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    const time = this.clock.now();
    const work = (books: Books) => operations.map((operation) => this.operations.apply(books, operation, time));
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
      if (line === undefined) return;
      yield line;
    }
  }

  async head(chain: string): Promise<Head | null> {
    return this.books.head(chain) ?? null;
  }

  async document(kind: DocumentKind, id: string): Promise<Document | null> {
    return this.books.document(kind, id) ?? null;
  }

  async *documents(kind: DocumentKind, status?: string): AsyncIterable<Document> {
    const all = this.books.documentsOf(kind).toSorted((a, b) => (a.id < b.id ? -1 : 1));
    for (const document of all) if (status === undefined || document.status === status) yield document;
  }

  latest(kind: DocumentKind, { before, ...wanted }: Latest): AsyncIterable<Document> {
    return this.beyond(this.books.documentsOf(kind).toReversed(), before, wanted);
  }

  oldest(kind: DocumentKind, { after, ...wanted }: Oldest): AsyncIterable<Document> {
    return this.beyond(this.books.documentsOf(kind), after, wanted);
  }

  async *beginning(
    kind: DocumentKind,
    { prefix, status, limit, after = "", only }: Beginning,
  ): AsyncIterable<Document> {
    const found = this.books.documentsOf(kind).filter(({ id }) => id.startsWith(prefix) && id > after);
    yield* this.beyond(
      found.toSorted((a, b) => (a.id < b.id ? -1 : 1)),
      undefined,
      { status, limit, only },
    );
  }

  async counts(kind: DocumentKind): Promise<Readonly<Record<string, number>>> {
    const counts: Record<string, number> = {};
    for (const { status } of this.books.documentsOf(kind)) counts[status] = (counts[status] ?? 0) + 1;
    return counts;
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

  private async *beyond(
    all: readonly Document[],
    place: string | undefined,
    { status, limit, only }: Omit<Latest, "before">,
  ): AsyncIterable<Document> {
    const paths = only === undefined ? null : memberPaths(only);
    const found = place === undefined ? -1 : all.findIndex(({ id }) => id === place);
    if (place !== undefined && found < 0) return;
    let left = limit;
    for (let at = found + 1; at < all.length && left > 0; at++) {
      const document = all[at] as Document;
      if (status !== undefined && document.status !== status) continue;
      left--;
      const { body } = document;
      const values = paths?.map((path) => memberOf(body, path)) ?? [];
      yield paths === null ? document : { ...document, body: bodyOf(paths, values) };
    }
  }
}
