import { type Account, type Books, pathOf } from "./books.js";
import type { Budget, BudgetId, Path } from "./budget.js";
import type { Call, CallId } from "./call.js";
import { appendLink, emptyHead, type Head } from "./chain/link.js";
import type { Document, DocumentKind, Entry } from "./document.js";
import { byChain, byExpiry, type Changes, Draft, isDue, keyOf } from "./draft.js";
import { KeptLines } from "./kept-lines.js";
import { LateDraft, type LateLink, type LateShelf } from "./late-draft.js";

/** A chain's head, and the places where its lines are kept, in order. */
interface KeptChain {
  head: Head;
  readonly places: number[];
  /** The position of its last link, made or due. */
  seq: number;
}

/** A call as it stands now. */
interface KeptCall {
  call: Call;
}

/** So many links are due at most: to make them takes a while, in which nothing else happens. */
const MOST_LATE = 1000;
/** So many are not worth a look whether they were settled. */
const FEWEST_EXPIRING = 64;

/** Books kept in memory, written all or nothing. */
export class MemoryBooks implements LateShelf {
  private readonly accounts = new Map<BudgetId, Account>();
  private readonly calls = new Map<CallId, KeptCall>();
  /**
   * Calls that have, or had, an instant to be settled at. Those that were settled are taken out together: a set from which each is
   * deleted is copied within the engine every few calls, and old copies lead to newer ones, so that none is given back for long.
   */
  private expiring: KeptCall[] = [];
  private expiring_most = FEWEST_EXPIRING;
  private readonly chains = new Map<string, KeptChain>();
  private readonly kept = new KeptLines();
  /** The links that are due, in the order in which they were appended. */
  private late: LateLink[] = [];
  private readonly documents = new Map<DocumentKind, Map<string, Document>>();
  private readonly entries = new Map<string, Entry>();
  private readonly anchored = new Map<string, number>();
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

  /**
   * The same, but that links are made later: when somebody asks for them, when `catchUp` is called, or when they are many.
   */
  transactLate<Result>(instant: number, work: (books: Books) => Result): Result {
    const draft = new LateDraft(this, this.hash, instant);
    const result = work(draft);
    this.keep(draft.changes);
    for (const link of draft.late) {
      this.chain(link.chain).seq++;
      this.late.push(link);
    }
    if (this.late.length >= MOST_LATE) this.catchUp();
    return result;
  }

  /** Makes the links that are due. */
  catchUp(): void {
    const { late } = this;
    if (late.length === 0) return;
    let made = 0;
    try {
      for (const { chain: id, draft } of late) {
        const chain = this.chain(id);
        const { head, line } = appendLink(chain.head, draft, this.hash);
        chain.places.push(this.kept.add(line));
        chain.head = head;
        made++;
      }
    } finally {
      // Should one fail all the same, no other is lost with it.
      this.late = late.slice(made);
    }
  }

  account(id: BudgetId): Account | undefined {
    return this.accounts.get(id);
  }

  call(id: CallId): Call | undefined {
    return this.calls.get(id)?.call;
  }

  head(chain: string): Head | undefined {
    this.catchUp();
    return this.chains.get(chain)?.head;
  }

  lastSeq(chain: string): number {
    return this.chains.get(chain)?.seq ?? -1;
  }

  document(kind: DocumentKind, id: string): Document | undefined {
    return this.documents.get(kind)?.get(id);
  }

  entry(run: string, key: string): Entry | undefined {
    return this.entries.get(keyOf(run, key));
  }

  due(instant: number, most: number): readonly Call[] {
    const due: Call[] = [];
    for (const { call } of this.expiring) if (isDue(call, instant)) due.push(call);
    return due.sort(byExpiry).slice(0, most);
  }

  /** Those that are reserved and not settled yet, by id. */
  heldCalls(): readonly Call[] {
    const held: Call[] = [];
    for (const { call } of this.calls.values()) if (call.status === "reserved") held.push(call);
    return held.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  unanchored(most: number): readonly Head[] {
    this.catchUp();
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

  /** A line of a chain by its position; undefined when the chain has not come so far. */
  line(chain: string, seq: number): string | undefined {
    this.catchUp();
    const place = this.chains.get(chain)?.places[seq];
    return place === undefined ? undefined : this.kept.at(place);
  }

  lines(chain: string): readonly string[] {
    this.catchUp();
    return this.chains.get(chain)?.places.map((place) => this.kept.at(place)) ?? [];
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
    for (const account of accounts.values()) this.accounts.set(account.budget.id, account);
    for (const call of calls.values()) this.keepCall(call);
    for (const { head, lines } of chains.values()) {
      const chain = this.chain(head.chain);
      chain.head = head;
      chain.seq = head.seq;
      for (const line of lines) chain.places.push(this.kept.add(line));
    }
    for (const document of documents.values()) {
      const known = this.documents.get(document.kind) ?? new Map<string, Document>();
      this.documents.set(document.kind, known.set(document.id, document));
    }
    for (const [key, entry] of entries) this.entries.set(key, entry);
    for (const [id, seq] of anchored) this.anchored.set(id, seq);
  }

  private chain(id: string): KeptChain {
    const known = this.chains.get(id);
    if (known !== undefined) return known;
    const chain = { head: emptyHead(id), places: [], seq: -1 };
    this.chains.set(id, chain);
    return chain;
  }

  private keepCall(call: Call): void {
    const known = this.calls.get(call.id);
    if (known !== undefined) {
      known.call = call;
      return;
    }
    const kept = { call };
    this.calls.set(call.id, kept);
    if (!isExpiring(kept)) return;
    this.expiring.push(kept);
    if (this.expiring.length < this.expiring_most) return;
    this.expiring = this.expiring.filter(isExpiring);
    this.expiring_most = Math.max(FEWEST_EXPIRING, 2 * this.expiring.length);
  }
}

function isExpiring({ call }: KeptCall): boolean {
  return call.status === "reserved" && call.expires !== null;
}
