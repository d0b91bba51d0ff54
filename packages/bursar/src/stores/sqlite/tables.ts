import type { Account, Shelf } from "../../core/books.js";
import type { BudgetId } from "../../core/budget.js";
import type { Call, CallId } from "../../core/call.js";
import type { Head } from "../../core/chain/link.js";
import { DOCUMENT_KINDS, type Document, type DocumentKind, type Entry } from "../../core/document.js";
import type { Changes } from "../../core/draft.js";
import { Bounded } from "../durable/bounded.js";
import { toStretches } from "../durable/lines.js";
import {
  type BudgetRow,
  type CallRow,
  type DocumentRow,
  type Reading,
  readAccount,
  readCall,
  readDocument,
  TABLES,
  writeCall,
  writeState,
  writeTerms,
} from "../durable/rows.js";
import type { Database, SqlRow, Statement } from "./driver.js";

/** How many budgets, calls and heads are remembered between transactions. */
const REMEMBERED = 20_000;

/**
 * The tables as a shelf: what was read once is remembered until another process writes. Only to be used inside a
 * transaction, in which nobody else can write.
 */
export class Tables implements Shelf {
  private readonly statements: Statements;
  private readonly accounts = new Bounded<BudgetId, Account>(REMEMBERED);
  private readonly calls = new Bounded<CallId, Call>(REMEMBERED);
  private readonly heads = new Bounded<string, Head>(REMEMBERED);
  private reading: Reading;
  private seen: number | null = null;
  /** The last change by another process that was told of. */
  private told: number | null = null;

  constructor(database: Database, reading: Reading) {
    this.statements = prepare(database);
    this.reading = reading;
  }

  /** Begins a look at one moment. Tells whether somebody else has written since the last one; then all is read anew. */
  look(reading: Reading): boolean {
    this.reading = reading;
    const version = this.version();
    const changed = this.seen !== version;
    if (changed) this.forget();
    this.seen = version;
    return changed;
  }

  /** Whether another process has written since this was asked the last time. */
  hasChanged(): boolean {
    const version = this.version();
    const changed = this.told !== version;
    this.told = version;
    return changed;
  }

  private version(): number {
    return (this.statements.dataVersion.get() as { data_version: number }).data_version;
  }

  forget(): void {
    for (const memory of [this.accounts, this.calls, this.heads]) memory.clear();
    this.seen = null;
  }

  account(id: BudgetId): Account | undefined {
    const known = this.accounts.get(id);
    if (known !== undefined) return known;
    const row = this.statements.account.get(id);
    if (row === undefined) return undefined;
    const account = readAccount(row as unknown as BudgetRow, this.reading);
    this.accounts.set(id, account);
    return account;
  }

  call(id: CallId): Call | undefined {
    const known = this.calls.get(id);
    if (known !== undefined) return known;
    const row = this.statements.call.get(id);
    return row === undefined ? undefined : readCall(row as unknown as CallRow);
  }

  head(chain: string): Head | undefined {
    const known = this.heads.get(chain);
    if (known !== undefined) return known;
    const row = this.statements.head.get(chain);
    if (row === undefined) return undefined;
    const head = headOf(row);
    this.heads.set(chain, head);
    return head;
  }

  document(kind: DocumentKind, id: string): Document | undefined {
    const row = this.statements.documents[kind].get.get(id);
    return row === undefined ? undefined : readDocument(kind, row as unknown as DocumentRow);
  }

  entry(run: string, key: string): Entry | undefined {
    const row = this.statements.entry.get(run, key);
    return row === undefined ? undefined : { run, key, entry: JSON.parse(row.entry as string) };
  }

  due(instant: number, most: number): readonly Call[] {
    return this.statements.due.all(instant, most).map((row) => readCall(row as unknown as CallRow));
  }

  unanchored(most: number): readonly Head[] {
    return this.statements.unanchored.all(most).map(headOf);
  }

  /** Writes what has changed. It is remembered only after the commit, by `remember`. */
  write({ accounts, calls, chains, documents, entries, anchored }: Changes): void {
    const { statements, reading } = this;
    for (const { budget, chain, origin } of accounts.values()) {
      const state = writeState(budget, reading);
      const ended = budget.ended ? 1 : 0;
      // Nearly always the budget is there already.
      const { changes } = statements.changeState.run(state, ended, budget.id) as { changes: number };
      if (Number(changes) === 0) {
        statements.addBudget.run(budget.id, budget.parent, chain, origin, writeTerms(budget));
        statements.addState.run(budget.id, state, ended);
      }
    }
    for (const call of calls.values()) {
      const { id, budget, kind, status, expires } = call;
      if (this.calls.get(id) !== undefined) statements.changeCall.run(status, writeCall(call), id);
      else statements.putCall.run(id, budget, kind, status, expires, writeCall(call));
    }
    for (const [chain, { head, lines }] of chains) {
      for (const { seq, lines: text } of toStretches(head.seq, lines)) statements.addLinks.run(chain, seq, text);
      // Nearly always the chain has grown since it was anchored: then no index has to be touched.
      const { changes } = statements.moveHead.run(head.seq, head.hash, chain) as { changes: number };
      if (Number(changes) === 0) statements.putHead.run(chain, head.seq, head.hash);
    }
    for (const { kind, id, budget, status, body, version } of documents.values()) {
      statements.documents[kind].put.run(id, budget, status, JSON.stringify(body), version);
    }
    for (const { run, key, entry } of entries.values()) statements.addEntry.run(run, key, JSON.stringify(entry));
    for (const [chain, seq] of anchored) statements.anchor.run(chain, seq);
  }

  remember({ accounts, calls, chains }: Changes): void {
    for (const [id, account] of accounts) this.accounts.set(id, account);
    for (const [id, call] of calls) {
      // A settled call is asked for again only when something went wrong.
      if (call.status === "reserved") this.calls.set(id, call);
      else this.calls.delete(id);
    }
    for (const [chain, { head }] of chains) this.heads.set(chain, head);
  }
}

function headOf({ chain, seq, hash }: SqlRow): Head {
  return { chain: chain as string, seq: seq as number, hash: hash as string };
}

type Statements = ReturnType<typeof prepare>;

interface DocumentStatements {
  readonly get: Statement;
  readonly put: Statement;
}

function prepare(database: Database) {
  const documents = {} as Record<DocumentKind, DocumentStatements>;
  for (const kind of DOCUMENT_KINDS) {
    documents[kind] = {
      get: database.prepare(`SELECT * FROM ${TABLES[kind]} WHERE id = ?`),
      put: database.prepare(
        `INSERT INTO ${TABLES[kind]} (id, budget, status, body, version, seq)
         VALUES (?, ?, ?, ?, ?, (SELECT coalesce(max(seq), 0) + 1 FROM ${TABLES[kind]}))
         ON CONFLICT (id) DO UPDATE SET budget = excluded.budget, status = excluded.status, body = excluded.body,
           version = excluded.version`,
      ),
    };
  }
  const sql = (text: string) => database.prepare(text);
  return {
    documents,
    dataVersion: sql("PRAGMA data_version"),
    account: sql("SELECT * FROM accounts WHERE id = ?"),
    addBudget: sql("INSERT INTO budgets (id, parent, chain, origin, terms) VALUES (?, ?, ?, ?, ?)"),
    addState: sql("INSERT INTO states (id, state, ended, version) VALUES (?, ?, ?, 1)"),
    changeState: sql("UPDATE states SET state = ?, ended = ?, version = version + 1 WHERE id = ?"),
    call: sql("SELECT * FROM calls WHERE id = ?"),
    changeCall: sql("UPDATE calls SET status = ?, body = ?, version = version + 1 WHERE id = ?"),
    putCall: sql(
      `INSERT INTO calls (id, budget, kind, status, expires, body, version) VALUES (?, ?, ?, ?, ?, ?, 1)
       ON CONFLICT (id) DO UPDATE SET status = excluded.status, body = excluded.body, version = version + 1`,
    ),
    due: sql("SELECT * FROM calls WHERE status = 'reserved' AND expires <= ? ORDER BY expires, id LIMIT ?"),
    head: sql("SELECT chain, seq, hash FROM heads WHERE chain = ?"),
    moveHead: sql("UPDATE heads SET seq = ?, hash = ? WHERE chain = ? AND grown = 1"),
    putHead: sql(
      `INSERT INTO heads (chain, seq, hash) VALUES (?, ?, ?)
       ON CONFLICT (chain) DO UPDATE SET seq = excluded.seq, hash = excluded.hash, grown = 1`,
    ),
    unanchored: sql("SELECT chain, seq, hash FROM heads WHERE grown = 1 ORDER BY chain LIMIT ?"),
    anchor: sql("UPDATE heads SET grown = 0 WHERE chain = ? AND seq = ?"),
    addLinks: sql("INSERT INTO links (chain, seq, lines) VALUES (?, ?, ?)"),
    entry: sql("SELECT entry FROM journal WHERE run = ? AND key = ?"),
    addEntry: sql("INSERT INTO journal (run, key, entry) VALUES (?, ?, ?)"),
  };
}
