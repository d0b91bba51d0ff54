import { type Account, accountsOf, type Books, pathOf } from "./books.js";
import type { Budget, BudgetId, Path } from "./budget.js";
import type { Call, CallId } from "./call.js";
import { appendLine, type Head } from "./chain/link.js";
import type { Document, DocumentKind, Entry } from "./document.js";
import { byChain, byExpiry, type Changes, Draft, isDue } from "./draft.js";
import { type KeptCall, KeptCalls } from "./kept-calls.js";
import { KeptChains } from "./kept-chains.js";
import { KeptDocuments } from "./kept-documents.js";
import { KeptJournals } from "./kept-journals.js";
import { LateDraft, type LateLink, type LateShelf } from "./late-draft.js";

/** How much is kept of what is over; all of it where nothing is said. */
export interface KeepLimits {
  /** How many characters the links of all chains may have together, and how many journals. */
  readonly characters: number;
  /** How many settled calls are known by their ids, at least. */
  readonly calls: number;
}

const ALL: KeepLimits = { characters: Number.POSITIVE_INFINITY, calls: Number.POSITIVE_INFINITY };

/** From its first snapshot on, the journal of a run is kept under `<run>:<number>`. */
const PART = /:\d+$/;
/** So many links are due at most: to make them takes a while, in which nothing else happens, and what they are made of is kept until then. */
const MOST_LATE = 64;
/** So many are not worth a look whether they were settled. */
const FEWEST_EXPIRING = 64;

/** Books kept in memory, written all or nothing. */
export class MemoryBooks implements LateShelf {
  private readonly accounts = new Map<BudgetId, Account>();
  private readonly calls: KeptCalls;
  /**
   * Calls that have, or had, an instant to be settled at. Those that were settled are taken out together: a set from which each is
   * deleted is copied within the engine every few calls, and old copies lead to newer ones, so that none is given back for long.
   */
  private expiring: KeptCall[] = [];
  private expiring_most = FEWEST_EXPIRING;
  private readonly chains: KeptChains;
  /** The links that are due, in the order in which they were appended. */
  private late: LateLink[] = [];
  private readonly documents = new Map<DocumentKind, KeptDocuments>();
  private readonly journals: KeptJournals;
  private readonly anchored = new Map<string, number>();
  private readonly hash: (text: string) => string;

  constructor(hash: (text: string) => string, { characters, calls }: KeepLimits = ALL) {
    this.hash = hash;
    this.calls = new KeptCalls(calls);
    this.chains = new KeptChains(characters);
    this.journals = new KeptJournals(characters, (run) => this.hasEnded(run));
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
      this.chains.chain(link.chain).seq++;
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
      for (const { chain: id, action, action_type, at, cause, event } of late) {
        const chain = this.chains.chain(id);
        const data = "write" in action ? action.write() : action.data;
        const { head, line } = appendLine(chain.head, { action_type, at, cause, data, event }, this.hash);
        chain.head = head;
        made++;
        this.chains.add(chain, [line], head.seq);
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
    return this.journals.entry(run, key);
  }

  due(instant: number, most: number): readonly Call[] {
    const due: Call[] = [];
    for (const { call } of this.expiring) if (isDue(call, instant)) due.push(call);
    return due.sort(byExpiry).slice(0, most);
  }

  /** Those that are reserved and not settled yet, by id. */
  heldCalls(): readonly Call[] {
    return [...this.calls.reserved()].sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  unanchored(most: number): readonly Head[] {
    this.catchUp();
    const heads: Head[] = [];
    for (const { head } of this.chains.all()) if (this.anchored.get(head.chain) !== head.seq) heads.push(head);
    return heads.sort(byChain).slice(0, most);
  }

  budget(id: BudgetId): Budget | null {
    return this.accounts.get(id)?.budget ?? null;
  }

  path(id: BudgetId): Path {
    return this.accounts.has(id) ? pathOf(accountsOf(this, id)) : [];
  }

  /** A line of a chain by its position; undefined when it was dropped, or the chain has not come so far. */
  line(chain: string, seq: number): string | undefined {
    this.catchUp();
    return this.chains.line(chain, seq);
  }

  /** The lines of a chain that were not dropped. */
  lines(chain: string): readonly string[] {
    this.catchUp();
    return this.chains.lines(chain);
  }

  /** The last link of a chain that was dropped, after which the others verify; undefined where none was. */
  dropped(chain: string): Head | undefined {
    this.catchUp();
    const dropped = this.chains.get(chain)?.dropped;
    return dropped === undefined || dropped.seq < 0 ? undefined : dropped;
  }

  /** In the order in which they were first written. */
  documentsOf(kind: DocumentKind): KeptDocuments {
    let documents = this.documents.get(kind);
    if (documents === undefined) {
      documents = new KeptDocuments();
      this.documents.set(kind, documents);
    }
    return documents;
  }

  /** The entries of a run, in the order in which they were written. */
  journal(run: string): readonly Entry[] {
    return this.journals.of(run);
  }

  private keep({ accounts, calls, chains, documents, entries, anchored }: Changes): void {
    for (const account of accounts.values()) this.keepAccount(account);
    for (const call of calls.values()) this.keepCall(call);
    for (const { head, lines } of chains.values()) {
      const chain = this.chains.chain(head.chain);
      chain.head = head;
      chain.seq = head.seq;
      this.chains.add(chain, lines, head.seq);
    }
    // Most transactions are of one call and write none of these.
    if (documents.size + entries.size + anchored.size === 0) return;
    for (const document of documents.values()) this.documentsOf(document.kind).set(document);
    for (const entry of entries.values()) this.journals.add(entry);
    for (const [id, seq] of anchored) this.anchored.set(id, seq);
  }

  private keepAccount(account: Account): void {
    const { budget, chain } = account;
    const known = this.accounts.get(budget.id);
    this.accounts.set(budget.id, account);
    if (known === undefined && !budget.ended) this.chains.count(chain, 1);
    if (known !== undefined && budget.ended && !known.budget.ended) this.chains.count(chain, -1);
  }

  /** Whether the run of a journal is over: its budget has ended, or that of the run above it that it shares. */
  private hasEnded(journal: string): boolean {
    const run = this.document("run", journal) ?? this.document("run", journal.replace(PART, ""));
    return this.accounts.get(run?.budget ?? journal)?.budget.ended === true;
  }

  private keepCall(call: Call): void {
    const kept = this.calls.set(call);
    if (kept === null || !isExpiring(kept)) return;
    this.expiring.push(kept);
    if (this.expiring.length < this.expiring_most) return;
    this.expiring = this.expiring.filter(isExpiring);
    this.expiring_most = Math.max(FEWEST_EXPIRING, 2 * this.expiring.length);
  }
}

function isExpiring({ call }: KeptCall): boolean {
  return call.status === "reserved" && call.expires !== null;
}
