import { Operations } from "../core/apply.js";
import type { Budget, BudgetId, Path } from "../core/budget.js";
import type { Head } from "../core/chain/link.js";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { MemoryBooks } from "../core/memory-books.js";
import type { Operation, Outcome } from "../core/operation.js";
import type { Clock } from "../ports/clock.js";
import type { Outcomes, Store } from "../ports/store.js";
import { sha256Hex } from "../runtime/crypto.js";
import { systemClock } from "../runtime/system-clock.js";

export interface MemoryStoreOptions {
  readonly dimensions?: Dimensions;
  readonly clock?: Clock;
}

const FREEING: ReadonlySet<Operation["op"]> = new Set(["commit", "release", "expire", "charge", "extend", "end"]);

/** Whether there may be more to reserve after this than before. */
function frees(outcome: Outcome): boolean {
  return outcome.op === "expire" ? outcome.calls.length > 0 : FREEING.has(outcome.op);
}

/** A store that lives and dies with the process: for tests, demos, and runs that need no tomorrow. */
export class MemoryStore implements Store {
  readonly dimensions: Dimensions;
  private readonly clock: Clock;
  private readonly operations: Operations;
  private readonly books = new MemoryBooks(sha256Hex);
  private readonly listeners = new Set<() => void>();

  constructor({ dimensions = STANDARD, clock = systemClock }: MemoryStoreOptions = {}) {
    this.dimensions = dimensions;
    this.clock = clock;
    this.operations = new Operations(dimensions);
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    const time = this.clock.now();
    const outcomes = this.books.transact(time.instant, (books) =>
      operations.map((operation) => this.operations.apply(books, operation, time)),
    );
    if (outcomes.some(frees)) this.tell();
    return outcomes as unknown as Outcomes<Ops>;
  }

  async budget(id: BudgetId): Promise<Budget | null> {
    return this.books.budget(id);
  }

  async path(id: BudgetId): Promise<Path> {
    return this.books.path(id);
  }

  async *chain(id: string, from = 0): AsyncIterable<string> {
    const lines = this.books.lines(id);
    for (let seq = from; seq < lines.length; seq++) yield lines[seq] as string;
  }

  async head(chain: string): Promise<Head | null> {
    return this.books.head(chain);
  }

  watch(listener: () => void): Disposable {
    // A wrapper of its own, so that the same function can be registered twice and each be taken back.
    const registered = () => listener();
    this.listeners.add(registered);
    return { [Symbol.dispose]: () => void this.listeners.delete(registered) };
  }

  private tell(): void {
    for (const listener of this.listeners) queueMicrotask(() => this.listeners.has(listener) && listener());
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.listeners.clear();
  }
}
