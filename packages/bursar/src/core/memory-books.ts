import { type Account, type Books, pathOf, type Shelf } from "./books.js";
import type { Budget, BudgetId, Path } from "./budget.js";
import type { Call, CallId } from "./call.js";
import type { Head } from "./chain/link.js";
import type { Document, DocumentKind, Entry } from "./document.js";
import { byChain, byExpiry, type Changes, Draft, type Growth, isDue, keyOf } from "./draft.js";

/** Books kept in memory, written all or nothing. */
export class MemoryBooks implements Shelf {
  private readonly accounts = new Map<BudgetId, Account>();
  private readonly calls = new Map<CallId, Call>();
  private readonly chains = new Map<string, Growth>();
  private readonly documents = new Map<DocumentKind, Map<string, Document>>();
  private readonly entries = new Map<string, Entry>();
  private readonly anchored = new Map<string, number>();
  /** Reservations that have an instant to be settled at. */
  private readonly expiring = new Set<CallId>();
  private readonly hash: (text: string) => string;

  constructor(hash: (text: string) => string) {
    this.hash = hash;
  }

  /** Hands out books to write in. When `work` throws, nothing was written. */
  transact<Result>(instant: number, work: (books: Books) => Result): Result {
    const draft = new Draft(this, this.hash, instant);
    const result = work(draft);
    this.keep(draft.changes);
    return result;
  }

  account(id: BudgetId): Account | undefined {
    return this.accounts.get(id);
  }

  call(id: CallId): Call | undefined {
    return this.calls.get(id);
  }

  head(chain: string): Head | undefined {
    return this.chains.get(chain)?.head;
  }

  document(kind: DocumentKind, id: string): Document | undefined {
    return this.documents.get(kind)?.get(id);
  }

  entry(run: string, key: string): Entry | undefined {
    return this.entries.get(keyOf(run, key));
  }

  due(instant: number, most: number): readonly Call[] {
    const due: Call[] = [];
    for (const id of this.expiring) {
      const call = this.calls.get(id);
      if (call !== undefined && isDue(call, instant)) due.push(call);
    }
    return due.sort(byExpiry).slice(0, most);
  }

  unanchored(most: number): readonly Head[] {
    const heads: Head[] = [];
    for (const [id, { head }] of this.chains) if (this.anchored.get(id) !== head.seq) heads.push(head);
    return heads.sort(byChain).slice(0, most);
  }

  budget(id: BudgetId): Budget | null {
    return this.accounts.get(id)?.budget ?? null;
  }

  path(id: BudgetId): Path {
    return this.accounts.has(id) ? pathOf(this, id) : [];
  }

  lines(chain: string): readonly string[] {
    return this.chains.get(chain)?.lines ?? [];
  }

  /** In the order in which they were first written. */
  documentsOf(kind: DocumentKind): readonly Document[] {
    return [...(this.documents.get(kind)?.values() ?? [])];
  }

  /** The entries of a run, in the order in which they were written. */
  journal(run: string): readonly Entry[] {
    return [...this.entries.values()].filter((entry) => entry.run === run);
  }

  private keep({ accounts, calls, chains, documents, entries, anchored }: Changes): void {
    for (const [id, account] of accounts) this.accounts.set(id, account);
    for (const [id, call] of calls) {
      this.calls.set(id, call);
      if (call.status === "reserved" && call.expires !== null) this.expiring.add(id);
      else this.expiring.delete(id);
    }
    for (const [id, growth] of chains) {
      const chain = this.chains.get(id);
      if (chain === undefined) this.chains.set(id, growth);
      else {
        chain.head = growth.head;
        for (const line of growth.lines) chain.lines.push(line);
      }
    }
    for (const document of documents.values()) {
      const known = this.documents.get(document.kind) ?? new Map<string, Document>();
      this.documents.set(document.kind, known.set(document.id, document));
    }
    for (const [key, entry] of entries) this.entries.set(key, entry);
    for (const [id, seq] of anchored) this.anchored.set(id, seq);
  }
}
