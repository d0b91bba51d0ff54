import type { Budget, BudgetId, Path } from "../core/budget.js";
import type { Call } from "../core/call.js";
import type { Head } from "../core/chain/link.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Document, DocumentKind, Entry } from "../core/document.js";
import type { Operation, OutcomeOf } from "../core/operation.js";
import type { Clock } from "./clock.js";

/** Where budgets, calls and chains live. An adapter is done when `describeStore(adapter)` is green. */
export interface Store extends AsyncDisposable {
  readonly dimensions: Dimensions;

  /** The clock by which it judges what has expired: whoever sets an expiry reads this one. */
  readonly clock: Clock;

  /**
   * Does all of the operations, in order, in one transaction, or none of them: when one throws, nothing has happened.
   * A refusal is no failure: it is the outcome of its operation, and the others stand. Two callers racing for the last
   * dollar: one of them gets it. What has been acknowledged survives everything the adapter promises to survive.
   */
  apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>>;

  /** The budget as it stands, or null. */
  budget(id: BudgetId): Promise<Budget | null>;

  /** The budget and its ancestors as they stand, leaf first; empty when there is none. */
  path(id: BudgetId): Promise<Path>;

  /** The lines of a chain from a position on, exactly as they were hashed. */
  chain(id: string, from?: number): AsyncIterable<string>;

  /** The last link of a chain, or null when it has none. */
  head(chain: string): Promise<Head | null>;

  /** The document as it stands, or null. */
  document(kind: DocumentKind, id: string): Promise<Document | null>;

  /** All documents of a kind, or those of one status, by id. */
  documents(kind: DocumentKind, status?: string): AsyncIterable<Document>;

  /**
   * The documents of a kind, or those of one status, that were first written last, and from there back. They keep their
   * places however often they change.
   */
  latest(kind: DocumentKind, wanted: Latest): AsyncIterable<Document>;

  /** The same from the other end: those that were first written first, and from there on. */
  oldest(kind: DocumentKind, wanted: Oldest): AsyncIterable<Document>;

  /** The documents of a kind whose ids begin so, by id. No more than `limit` are read, however many there are. */
  beginning(kind: DocumentKind, wanted: Beginning): AsyncIterable<Document>;

  /** How many documents of a kind there are, by their statuses. */
  counts(kind: DocumentKind): Promise<Readonly<Record<string, number>>>;

  /** The calls that are reserved and not settled yet, by id. */
  heldCalls(): AsyncIterable<Call>;

  /** Whether what it holds outlives this process, so that others have to settle the reservations of a process that was killed. */
  readonly outlivesProcess?: boolean;

  /** The journal of a run, in the order in which it was written. */
  journal(run: string): AsyncIterable<Entry>;

  /** One entry of it by its key, or null; no slower in a long journal than in a short one. */
  entry(run: string, key: string): Promise<Entry | null>;

  /**
   * Calls the listener soon after amounts may have become free, or, for the topic `runs`, after a run may have been queued. It may
   * be called without a cause, as polling does, and never after the returned handle is disposed.
   */
  watch(listener: () => void, topic?: Topic): Disposable;
}

/** What a listener is told of. */
export type Topic = "amounts" | "runs";

/** Which of the latest documents are wanted. */
export interface Latest {
  readonly status?: string | undefined;
  /** Only those that were written before the one with this id; none at all when it is not there. */
  readonly before?: string | undefined;
  /** How many at most. No more than these are read. */
  readonly limit: number;
  /**
   * What is wanted of their bodies, as `ended` or `program.name`; all of it unless it is said. The rest is not even read, and
   * what is not there is null. Such a document is for looking at, and not to be written back.
   */
  readonly only?: readonly string[] | undefined;
}

/** Which of the oldest documents are wanted. */
export interface Oldest extends Omit<Latest, "before"> {
  /** Only those that were written after the one with this id; none at all when it is not there. */
  readonly after?: string | undefined;
}

/** Which documents are wanted by the beginning of their ids. */
export interface Beginning {
  readonly prefix: string;
  readonly status?: string | undefined;
  readonly limit: number;
  /** Only those whose ids come after this one. */
  readonly after?: string | undefined;
  /** As in `Latest`. */
  readonly only?: readonly string[] | undefined;
}

/** The outcomes of a list of operations, each of the kind its operation gives. */
export type Outcomes<Ops extends readonly Operation[]> = {
  readonly [Index in keyof Ops]: OutcomeOf<Ops[Index]>;
};
