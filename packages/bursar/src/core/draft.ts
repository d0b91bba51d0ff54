import type { Account, Books, Shelf } from "./books.js";
import type { BudgetId } from "./budget.js";
import type { Call, CallId } from "./call.js";
import { appendLine, emptyHead, type Head } from "./chain/link.js";
import type { Document, DocumentKind, Entry } from "./document.js";
import type { Action, WrittenAction } from "./events.js";

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
  readonly accounts: Map<BudgetId, Account> = new Map();
  readonly calls: Map<CallId, Call> = new Map();
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
 * Books to write in, over what was kept before: the one overlay of a transaction. Several callers may write in it one after the other,
 * and what one of them wrote is taken back where its list fails.
 */
export class Draft implements Books {
  protected readonly writing: Writing = new Writing();
  protected instant: number;
  private readonly shelf: Shelf;
  private readonly hash: (text: string) => string;
  /** What takes back what the present caller has written, in order. */
  private undo: Undo[] | null = null;

  constructor(shelf: Shelf, hash: (text: string) => string, instant: number) {
    this.shelf = shelf;
    this.hash = hash;
    this.instant = instant;
  }

  get changes(): Changes {
    return this.writing;
  }

  account(id: BudgetId): Account | undefined {
    return this.writing.accounts.get(id) ?? this.shelf.account(id);
  }

  putAccount(account: Account): void {
    this.put(this.writing.accounts, account.budget.id, account);
  }

  call(id: CallId): Call | undefined {
    return this.writing.calls.get(id) ?? this.shelf.call(id);
  }

  putCall(call: Call): void {
    this.put(this.writing.calls, call.id, call);
  }

  head(chain: string): Head | undefined {
    return this.writing.chains.get(chain)?.head ?? this.shelf.head(chain);
  }

  document(kind: DocumentKind, id: string): Document | undefined {
    return this.writing.documents.get(keyOf(kind, id)) ?? this.shelf.document(kind, id);
  }

  putDocument(document: Document): void {
    const { writing } = this;
    writing.documents = this.put(own(writing.documents), keyOf(document.kind, document.id), document);
  }

  entry(run: string, key: string): Entry | undefined {
    return this.writing.entries.get(keyOf(run, key)) ?? this.shelf.entry(run, key);
  }

  putEntry(entry: Entry): void {
    const { writing } = this;
    writing.entries = this.put(own(writing.entries), keyOf(entry.run, entry.key), entry);
  }

  due(instant: number, most: number): readonly Call[] {
    const { calls } = this.writing;
    const due = this.shelf.due(instant, most + calls.size).filter(({ id }) => !calls.has(id));
    for (const call of calls.values()) if (isDue(call, instant)) due.push(call);
    return due.sort(byExpiry).slice(0, most);
  }

  unanchored(most: number): readonly Head[] {
    const { chains, anchored } = this.writing;
    const heads = this.shelf
      .unanchored(most + chains.size + anchored.size)
      .filter(({ chain }) => !chains.has(chain) && !anchored.has(chain));
    for (const { head } of chains.values()) if (anchored.get(head.chain) !== head.seq) heads.push(head);
    return heads.sort(byChain).slice(0, most);
  }

  anchor(head: Head): void {
    const { writing } = this;
    writing.anchored = this.put(own(writing.anchored), head.chain, head.seq);
  }

  append(id: string, action: Action | WrittenAction, cause: string | null): string {
    const { action_type, event } = action;
    const data = "write" in action ? action.write() : action.data;
    const { writing } = this;
    const grown = writing.chains.get(id);
    const before = grown?.head ?? this.shelf.head(id) ?? emptyHead(id);
    const { head, line } = appendLine(before, { action_type, at: this.instant, cause, data, event }, this.hash);
    if (grown === undefined) writing.chains = this.put(own(writing.chains), id, { head, lines: [line] });
    else {
      this.undo?.push(() => {
        grown.head = before;
        grown.lines.pop();
      });
      grown.head = head;
      grown.lines.push(line);
    }
    return `${id}#${head.seq}`;
  }

  /** Lets one caller write; when it throws, it has written nothing. */
  within<Result>(instant: number, work: (books: Books) => Result): Result {
    this.instant = instant;
    const undo: Undo[] = [];
    this.undo = undo;
    try {
      return work(this);
    } catch (error) {
      for (const each of undo.reverse()) each();
      throw error;
    } finally {
      this.undo = null;
    }
  }

  private put<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Map<Key, Value> {
    if (this.undo !== null) {
      const before = map.get(key);
      this.undo.push(() => (before === undefined ? map.delete(key) : map.set(key, before)));
    }
    return map.set(key, value);
  }
}

type Undo = () => void;

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
