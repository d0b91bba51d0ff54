import type { Account } from "../../core/books.js";
import type { BudgetId } from "../../core/budget.js";
import type { Call, CallId } from "../../core/call.js";
import type { Head } from "../../core/chain/link.js";
import type { Document, DocumentKind, Entry } from "../../core/document.js";
import { keyOf } from "../../core/draft.js";
import { Bounded } from "../durable/bounded.js";
import {
  type BudgetRow,
  type CallRow,
  type DocumentRow,
  type Reading,
  readAccount,
  readCall,
  readDocument,
} from "../durable/rows.js";

/** How many budgets, calls and heads are remembered. */
const REMEMBERED = 20_000;
/** Documents are larger than all of these. */
const REMEMBERED_DOCUMENTS = 2000;
/** The longest body, in characters, of a document that is remembered. */
export const SMALL: number = 16 * 1024;

/** Something read from a table, as it was at that version; `value` is null where there was nothing. */
export interface Seen<Value> {
  readonly value: Value | null;
  /** 0 where there was nothing. */
  readonly version: number;
}

/** What to read. Ancestors of budgets, budgets of calls and heads of chains come along. */
export interface Wanted {
  readonly budgets: readonly BudgetId[];
  readonly calls: readonly CallId[];
  readonly heads: readonly string[];
  readonly documents: readonly { readonly kind: DocumentKind; readonly id: string }[];
  readonly entries: readonly { readonly run: string; readonly key: string }[];
}

/** What the server gives back for it. */
export interface Read {
  readonly budgets: readonly (BudgetRow & { readonly version: number })[] | null;
  readonly calls: readonly (CallRow & { readonly version: number })[] | null;
  readonly heads: readonly Head[] | null;
  readonly documents: readonly (DocumentRow & { readonly kind: DocumentKind })[] | null;
  readonly entries: readonly (Omit<Entry, "entry"> & { readonly entry: string })[] | null;
}

/**
 * Our picture of the tables. It may be old: a decision on it stands only if the server says that nothing has changed. On top
 * of another it keeps all that was read through it, for one batch, while the one below keeps what is likely to be of use.
 */
export class Mirror {
  readonly accounts: Bounded<BudgetId, Seen<Account>>;
  readonly calls: Bounded<CallId, Seen<Call>>;
  readonly heads: Bounded<string, Seen<Head>>;
  readonly documents: Bounded<string, Seen<Document>>;
  readonly entries: Bounded<string, Seen<Entry>>;

  constructor(below?: Mirror) {
    const most = below === undefined ? REMEMBERED : Number.POSITIVE_INFINITY;
    this.accounts = new Bounded(most, below?.accounts);
    this.calls = new Bounded(most, below?.calls);
    this.heads = new Bounded(most, below?.heads);
    this.documents = new Bounded(below === undefined ? REMEMBERED_DOCUMENTS : most, below?.documents);
    this.entries = new Bounded(most);
  }

  /** Takes in what was read; what was wanted and is not there is known to be absent. */
  learn(wanted: Wanted, read: Read, reading: Reading): void {
    const absent = { value: null, version: 0 } as const;
    for (const id of wanted.budgets) this.accounts.set(id, absent);
    for (const id of wanted.calls) this.calls.set(id, absent);
    for (const chain of wanted.heads) this.heads.set(chain, absent);
    for (const { kind, id } of wanted.documents) this.documents.set(keyOf(kind, id), absent);
    for (const { run, key } of wanted.entries) this.entries.set(keyOf(run, key), absent);
    for (const row of read.budgets ?? []) {
      this.accounts.set(row.id, { value: readAccount(row, reading), version: row.version });
      // A budget's chain was read along with it. If that has no head yet, it is named in no answer.
      if (this.heads.get(row.chain) === undefined) this.heads.set(row.chain, absent);
    }
    for (const row of read.calls ?? []) this.calls.set(row.id, { value: readCall(row), version: row.version });
    for (const head of read.heads ?? []) this.heads.set(head.chain, { value: head, version: head.seq });
    for (const row of read.documents ?? []) {
      const seen = { value: readDocument(row.kind, row), version: row.version };
      this.documents.set(keyOf(row.kind, row.id), seen, row.body.length <= SMALL);
    }
    for (const { run, key, entry } of read.entries ?? []) {
      this.entries.set(keyOf(run, key), { value: { run, key, entry: JSON.parse(entry) }, version: 1 });
    }
  }

  /** The root of the tree a budget stands in, as far as it is known. */
  rootOf(id: BudgetId): BudgetId | null {
    for (let next = id; ; ) {
      const parent = this.accounts.get(next)?.value?.budget.parent;
      if (parent === undefined) return null;
      if (parent === null) return next;
      next = parent;
    }
  }
}
