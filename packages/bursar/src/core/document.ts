import type { BudgetId } from "./budget.js";
import type { JsonObject } from "./chain/canonical.js";
import { BursarError } from "./errors.js";

/** What a store keeps beside budgets, calls and chains. */
export type DocumentKind = "run" | "approval" | "session" | "lease" | "key" | "token" | "history" | "batch";

export const DOCUMENT_KINDS: readonly DocumentKind[] = [
  ...(["run", "approval", "session", "lease", "key", "token", "history", "batch"] as const),
];

/**
 * Something that changes as a whole: the state of a run, an approval, a session, a lease, a key of the gateway, a token of the
 * server, what past runs and calls took, a batch of calls that wait.
 */
export interface Document {
  readonly kind: DocumentKind;
  readonly id: string;
  /** The budget it belongs to, if any. */
  readonly budget: BudgetId | null;
  /** A word to look for: `Running`, `pending` and the like. */
  readonly status: string;
  readonly body: JsonObject;
  /** Counts its changes from 1, so that whoever has read an older one cannot overwrite a newer one. */
  readonly version: number;
}

/** What a run has seen happen, written once under a key of its own; a replay reads it instead of doing it again. */
export interface Entry {
  readonly run: string;
  readonly key: string;
  readonly entry: JsonObject;
}

/** Somebody else has changed a document since it was read. Nothing was done; `document` is what it is now. */
export class StaleError extends BursarError {
  override readonly name: string = "StaleError";
  readonly kind: DocumentKind;
  readonly id: string;
  readonly document: Document | null;

  constructor(kind: DocumentKind, id: string, version: number, document: Document | null) {
    const now = document === null ? "is not there" : `has version ${document.version}`;
    super("stale", `${kind} ${id} ${now}, not version ${version}; read it again and decide anew`);
    this.kind = kind;
    this.id = id;
    this.document = document;
  }
}
