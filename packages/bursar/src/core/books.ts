import type { Budget, BudgetId, Path } from "./budget.js";
import type { Call, CallId } from "./call.js";
import type { Head } from "./chain/link.js";
import type { Document, DocumentKind, Entry } from "./document.js";
import { LedgerError } from "./errors.js";
import type { Action, WrittenAction } from "./events.js";

/** A budget with the chain its events go to, and the link that recorded its allocation. */
export interface Account {
  readonly budget: Budget;
  readonly chain: string;
  readonly origin: string;
}

/** What was kept before. A store looks it up, in memory or in tables. */
export interface Shelf {
  account(id: BudgetId): Account | undefined;
  call(id: CallId): Call | undefined;
  head(chain: string): Head | undefined;
  document(kind: DocumentKind, id: string): Document | undefined;
  entry(run: string, key: string): Entry | undefined;
  /** Reservations not settled yet whose instant has come, the oldest first. */
  due(instant: number, most: number): readonly Call[];
  /** Heads of chains that have grown since they were last anchored, by name. */
  unanchored(most: number): readonly Head[];
}

/**
 * What an operation reads and writes. A store hands one in for each list of operations, and makes everything written
 * to it durable at once, or nothing of it.
 */
export interface Books extends Shelf {
  putAccount(account: Account): void;
  putCall(call: Call): void;
  putDocument(document: Document): void;
  putEntry(entry: Entry): void;
  /** Appends a link and gives back its id. */
  append(chain: string, action: Action | WrittenAction, cause: string | null): string;
  /** Notes that a chain is anchored up to here. */
  anchor(head: Head): void;
}

export function accountOf(books: Pick<Books, "account">, id: BudgetId): Account {
  const account = books.account(id);
  if (account === undefined) throw new LedgerError(`there is no budget ${id}`);
  return account;
}

export function callOf(books: Books, id: CallId): Call {
  const call = books.call(id);
  if (call === undefined) throw new LedgerError(`there is no call ${id}; reserve before you settle`);
  return call;
}

/** A budget's account and those of its ancestors, leaf first. */
export type AccountPath = readonly [leaf: Account, ...above: Account[]];

export function accountsOf(books: Pick<Books, "account">, id: BudgetId): AccountPath {
  const leaf = accountOf(books, id);
  const accounts: [Account, ...Account[]] = [leaf];
  for (let next = leaf.budget.parent; next !== null; ) {
    const account = accountOf(books, next);
    accounts.push(account);
    next = account.budget.parent;
  }
  return accounts;
}

/** The accounts of a budget that still takes calls. */
export function openAccountsOf(books: Books, id: BudgetId): AccountPath {
  const accounts = accountsOf(books, id);
  if (accounts[0].budget.ended) throw new LedgerError(`budget ${id} has ended; it takes no calls`);
  return accounts;
}

/** The budget and its ancestors, leaf first. */
export function pathOf(accounts: readonly Account[]): Path {
  const path: Budget[] = [];
  for (const { budget } of accounts) path.push(budget);
  return path;
}

/** Writes what has changed of a path, which was that of these accounts. */
export function writePath(books: Books, accounts: readonly Account[], path: Path): void {
  for (let level = 0; level < accounts.length; level++) {
    const { budget: before, chain, origin } = accounts[level] as Account;
    const budget = path[level] as Budget;
    // Written out, because a spread with a change costs fifty times as much, and this is done for every call.
    if (budget !== before) books.putAccount({ budget, chain, origin });
  }
}
