import type { Account, Books, Shelf } from "./books.js";
import type { BudgetId } from "./budget.js";
import type { Call, CallId } from "./call.js";
import { appendLink, emptyHead, type Head } from "./chain/link.js";
import type { Document, DocumentKind, Entry } from "./document.js";
import type { Action } from "./events.js";

/** What has been appended to a chain, and the head it has now. */
export interface Growth {
  head: Head;
  readonly lines: string[];
}

/** Everything that was written to a draft: what a store has to make durable at once. */
export interface Changes {
  readonly accounts: ReadonlyMap<BudgetId, Account>;
  readonly calls: ReadonlyMap<CallId, Call>;
  readonly chains: ReadonlyMap<string, Growth>;
  readonly documents: ReadonlyMap<string, Document>;
  readonly entries: ReadonlyMap<string, Entry>;
  /** Up to which position chains are anchored. */
  readonly anchored: ReadonlyMap<string, number>;
}

/** Changes while they are written. Most drafts are of one call, so what is seldom written has a map of its own only then. */
class Writing implements Changes {
  readonly accounts = new Map<BudgetId, Account>();
  readonly calls = new Map<CallId, Call>();
  chains: ReadonlyMap<string, Growth> = NOTHING;
  documents: ReadonlyMap<string, Document> = NOTHING;
  entries: ReadonlyMap<string, Entry> = NOTHING;
  anchored: ReadonlyMap<string, number> = NOTHING;
}

const NOTHING: ReadonlyMap<never, never> = new Map<never, never>();

/** A map that can be written, in place of the one that is everybody's. */
function own<Key, Value>(map: ReadonlyMap<Key, Value>): Map<Key, Value> {
  return map === NOTHING ? new Map() : (map as Map<Key, Value>);
}

/** A text that names a document or an entry, and no other: neither part of a budget's or a run's name holds a line break. */
export function keyOf(first: string, second: string): string {
  return `${first}\n${second}`;
}

/**
 * Books to write in, over what was kept before. Drafts stack: what one caller writes in a draft of its own is absorbed into
 * the draft of the whole transaction, or dropped without a trace.
 */
export class Draft implements Books {
  private readonly writing = new Writing();
  private readonly shelf: Shelf;
  private readonly hash: (text: string) => string;
  private readonly instant: number;

  constructor(shelf: Shelf, hash: (text: string) => string, instant: number) {
    this.shelf = shelf;
    this.hash = hash;
    this.instant = instant;
  }

  get changes(): Changes {
    return this.writing;
  }

  account(id: BudgetId): Account | undefined {
    return this.changes.accounts.get(id) ?? this.shelf.account(id);
  }

  putAccount(account: Account): void {
    this.writing.accounts.set(account.budget.id, account);
  }

  call(id: CallId): Call | undefined {
    return this.changes.calls.get(id) ?? this.shelf.call(id);
  }

  putCall(call: Call): void {
    this.writing.calls.set(call.id, call);
  }

  head(chain: string): Head | undefined {
    return this.changes.chains.get(chain)?.head ?? this.shelf.head(chain);
  }

  document(kind: DocumentKind, id: string): Document | undefined {
    return this.changes.documents.get(keyOf(kind, id)) ?? this.shelf.document(kind, id);
  }

  putDocument(document: Document): void {
    const { writing } = this;
    writing.documents = own(writing.documents).set(keyOf(document.kind, document.id), document);
  }

  entry(run: string, key: string): Entry | undefined {
    return this.changes.entries.get(keyOf(run, key)) ?? this.shelf.entry(run, key);
  }

  putEntry(entry: Entry): void {
    const { writing } = this;
    writing.entries = own(writing.entries).set(keyOf(entry.run, entry.key), entry);
  }

  due(instant: number, most: number): readonly Call[] {
    const { calls } = this.changes;
    const due = this.shelf.due(instant, most + calls.size).filter(({ id }) => !calls.has(id));
    for (const call of calls.values()) if (isDue(call, instant)) due.push(call);
    return due.sort(byExpiry).slice(0, most);
  }

  unanchored(most: number): readonly Head[] {
    const { chains, anchored } = this.changes;
    const heads = this.shelf
      .unanchored(most + chains.size + anchored.size)
      .filter(({ chain }) => !chains.has(chain) && !anchored.has(chain));
    for (const { head } of chains.values()) if (anchored.get(head.chain) !== head.seq) heads.push(head);
    return heads.sort(byChain).slice(0, most);
  }

  anchor(head: Head): void {
    const { writing } = this;
    writing.anchored = own(writing.anchored).set(head.chain, head.seq);
  }

  append(id: string, action: Action, cause: string | null): string {
    const { action_type, event, data } = action;
    const draft = { action_type, at: this.instant, cause, data, event };
    const { head, line, link } = appendLink(this.head(id) ?? emptyHead(id), draft, this.hash);
    this.grow(id, head, [line]);
    return link.id;
  }

  /** Lets one caller write in a draft of its own, and takes over what it wrote; when it throws, nothing was written. */
  within<Result>(instant: number, work: (books: Books) => Result): Result {
    const draft = new Draft(this, this.hash, instant);
    const result = work(draft);
    this.absorb(draft.changes);
    return result;
  }

  private absorb({ accounts, calls, chains, documents, entries, anchored }: Changes): void {
    const { writing } = this;
    for (const [id, account] of accounts) writing.accounts.set(id, account);
    for (const [id, call] of calls) writing.calls.set(id, call);
    for (const [id, { head, lines }] of chains) this.grow(id, head, lines);
    for (const [key, document] of documents) writing.documents = own(writing.documents).set(key, document);
    for (const [key, entry] of entries) writing.entries = own(writing.entries).set(key, entry);
    for (const [id, seq] of anchored) writing.anchored = own(writing.anchored).set(id, seq);
  }

  private grow(id: string, head: Head, lines: readonly string[]): void {
    const grown = this.writing.chains.get(id);
    if (grown === undefined) {
      this.writing.chains = own(this.writing.chains).set(id, { head, lines: [...lines] });
    } else {
      grown.head = head;
      for (const line of lines) grown.lines.push(line);
    }
  }
}

export function isDue({ status, expires }: Call, instant: number): boolean {
  return status === "reserved" && expires !== null && expires <= instant;
}

/** The oldest first; a name decides between equals, so that every store settles in the same order. */
export function byExpiry(a: Call, b: Call): number {
  return (a.expires ?? 0) - (b.expires ?? 0) || (a.id < b.id ? -1 : 1);
}

export function byChain(a: Head, b: Head): number {
  return a.chain < b.chain ? -1 : 1;
}
