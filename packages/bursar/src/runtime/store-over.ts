import type { Budget, BudgetId, Path } from "../core/budget.js";
import type { Call } from "../core/call.js";
import type { Head } from "../core/chain/link.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Document, DocumentKind, Entry } from "../core/document.js";
import type { Operation } from "../core/operation.js";
import type { Clock } from "../ports/clock.js";
import type { Beginning, Latest, Oldest, Outcomes, Store, Topic } from "../ports/store.js";

/** A store that writes in a way of its own, and reads what another one has. That one belongs to somebody else. */
export abstract class StoreOver implements Store {
  readonly dimensions: Dimensions;
  readonly clock: Clock;
  protected readonly store: Store;

  /** The store beneath all of those that only write in a way of their own. */
  static beneath(store: Store): Store {
    return store instanceof StoreOver ? StoreOver.beneath(store.store) : store;
  }

  /** A store and those beneath it, the outermost first. */
  static layers(store: Store): readonly Store[] {
    return store instanceof StoreOver ? [store, ...StoreOver.layers(store.store)] : [store];
  }

  constructor(store: Store, clock: Clock = store.clock) {
    this.store = store;
    this.dimensions = store.dimensions;
    this.clock = clock;
  }

  abstract apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>>;

  abstract [Symbol.asyncDispose](): Promise<void>;

  budget(id: BudgetId): Promise<Budget | null> {
    return this.store.budget(id);
  }

  path(id: BudgetId): Promise<Path> {
    return this.store.path(id);
  }

  chain(id: string, from?: number): AsyncIterable<string> {
    return this.store.chain(id, from);
  }

  head(chain: string): Promise<Head | null> {
    return this.store.head(chain);
  }

  document(kind: DocumentKind, id: string): Promise<Document | null> {
    return this.store.document(kind, id);
  }

  documents(kind: DocumentKind, status?: string): AsyncIterable<Document> {
    return this.store.documents(kind, status);
  }

  latest(kind: DocumentKind, wanted: Latest): AsyncIterable<Document> {
    return this.store.latest(kind, wanted);
  }

  oldest(kind: DocumentKind, wanted: Oldest): AsyncIterable<Document> {
    return this.store.oldest(kind, wanted);
  }

  beginning(kind: DocumentKind, wanted: Beginning): AsyncIterable<Document> {
    return this.store.beginning(kind, wanted);
  }

  counts(kind: DocumentKind): Promise<Readonly<Record<string, number>>> {
    return this.store.counts(kind);
  }

  heldCalls(): AsyncIterable<Call> {
    return this.store.heldCalls();
  }

  get outlivesProcess(): boolean {
    return this.store.outlivesProcess === true;
  }

  journal(run: string): AsyncIterable<Entry> {
    return this.store.journal(run);
  }

  entry(run: string, key: string): Promise<Entry | null> {
    return this.store.entry(run, key);
  }

  watch(listener: () => void, topic?: Topic): Disposable {
    return this.store.watch(listener, topic);
  }
}
