import type { Account } from "../../core/books.js";
import type { Call } from "../../core/call.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import type { Changes, Growth } from "../../core/draft.js";
import { toStretches } from "../durable/lines.js";
import { type Reading, writeCall, writeState, writeTerms } from "../durable/rows.js";
import { BETWEEN } from "./functions.js";
import { type Mirror, type Seen, SMALL } from "./mirror.js";
import type { Plan } from "./planner.js";
import type { View } from "./view.js";

type Field = string | number;

/** Rows, each a few fields of a list. */
class Rows {
  readonly fields: Field[] = [];
  count = 0;

  add(...fields: readonly Field[]): void {
    this.count++;
    for (const field of fields) this.fields.push(field);
  }
}

/** What most decisions do not write. */
type Rare = Record<"newBudgets" | "newHeads" | "anchored" | "documents", object[]>;

/**
 * The parameters of `bursar_apply`: what most decisions write, as one list of fields, and what they do not need, as JSON; null
 * when there is no such thing. Rows name the version they replace. Fields cost the server half as much as JSON would.
 */
export function parametersOf({ view, changes, reading, token }: Plan): readonly [string, string | null] {
  const rare: Rare = { newBudgets: [], newHeads: [], anchored: [], documents: [] };
  const budgets = budgetsOf(rare, view, changes, reading);
  const calls = callsOf(view, changes);
  const [heads, links] = chainsOf(rare, view, changes);
  putDocuments(rare, view, changes);
  const tables = [budgets, calls, heads, links, entriesOf(changes)];
  const work = [...tables.map(({ count }) => count), ...tables.flatMap(({ fields }) => fields)].join(BETWEEN);
  const isRare = Object.values(rare).some((list) => list.length > 0);
  const holding = holdingOf(view, changes);
  if (!isRare && holding === null && token === null) return [work, null];
  const rest = { ...(isRare && { rare }), ...(holding && { holding }), ...(token !== null && { plan: token }) };
  return [work, JSON.stringify(rest)];
}

/** Sorted by name, so that all transactions lock in the same order. */
function budgetsOf(rare: Rare, view: View, { accounts }: Changes, reading: Reading): Rows {
  const rows = new Rows();
  for (const id of [...accounts.keys()].sort()) {
    const { budget, chain, origin } = accounts.get(id) as Account;
    const version = view.accounts.get(id)?.version ?? 0;
    const ended = budget.ended ? 1 : 0;
    const state = writeState(budget, reading);
    if (version > 0) rows.add(id, version, state, ended);
    else rare.newBudgets.push({ id, parent: budget.parent, chain, origin, terms: writeTerms(budget), state, ended });
  }
  return rows;
}

function callsOf(view: View, { calls }: Changes): Rows {
  const rows = new Rows();
  for (const id of [...calls.keys()].sort()) {
    const call = calls.get(id) as Call;
    const { budget, kind, status, expires } = call;
    rows.add(id, view.calls.get(id)?.version ?? 0, status, writeCall(call), budget, kind, expires ?? "");
  }
  return rows;
}

function chainsOf(rare: Rare, view: View, { chains, anchored }: Changes): [heads: Rows, links: Rows] {
  const [heads, links] = [new Rows(), new Rows()];
  for (const chain of [...chains.keys()].sort()) {
    const { head, lines } = chains.get(chain) as Growth;
    const { seq, hash } = head;
    const before = view.heads.get(chain)?.value ?? null;
    if (before === null) rare.newHeads.push({ chain, seq, hash });
    else heads.add(chain, before.seq, seq, hash);
    for (const stretch of toStretches(seq, lines)) links.add(chain, stretch.seq, stretch.lines);
  }
  for (const [chain, seq] of anchored) rare.anchored.push({ chain, seq });
  return [heads, links];
}

function entriesOf({ entries }: Changes): Rows {
  const rows = new Rows();
  for (const { run, key, entry } of entries.values()) rows.add(run, key, JSON.stringify(entry));
  return rows;
}

function putDocuments(rare: Rare, view: View, { documents }: Changes): void {
  for (const [name, { kind, id, budget, status, body, version }] of documents) {
    const fresh = (view.documents.get(name)?.version ?? 0) === 0;
    rare.documents.push({ kind, id, budget, status, body: JSON.stringify(body), version, fresh });
  }
}

/**
 * What was looked at and is not written: it has to be as it was all the same. Null when there is no such thing. If there is,
 * everything is locked together, because locks taken in two rounds could wait for each other.
 */
function holdingOf(view: View, { accounts, calls }: Changes): JsonObject | null {
  const seen = (rows: ReadonlyMap<string, Seen<unknown>>, written: ReadonlyMap<string, unknown>) => {
    const untouched = [...rows].filter(([id]) => !written.has(id));
    const found = untouched.filter(([, { version }]) => version > 0).map(([id, { version }]) => ({ id, version }));
    return { found, absent: untouched.filter(([, { version }]) => version === 0).map(([id]) => id) };
  };
  const budgets = seen(view.accounts, accounts);
  const settled = seen(view.calls, calls);
  const absent = budgets.absent.length + settled.absent.length;
  if (budgets.found.length + settled.found.length + absent + view.documents.size === 0) return null;
  const all = budgets.found.length === 0 ? [] : seen(view.accounts, new Map()).found;
  const holding = {
    budgets: all,
    calls: settled.found,
    count: all.length + settled.found.length,
    absentBudgets: budgets.absent,
    absentCalls: settled.absent,
  };
  if (view.documents.size === 0) return holding;
  const documents = [...view.documents].map(([name, { version }]) => ({ ...documentName(name), version }));
  return { ...holding, documents };
}

/** Everything that was looked at, to be read again if it does not hold. */
export function askedOf(view: View): JsonObject {
  return {
    budgets: [...view.accounts.keys()],
    calls: [...view.calls.keys()],
    heads: [...view.heads.keys()],
    documents: [...view.documents.keys()].map(documentName),
    entries: [...view.entries.keys()].map(entryName),
  };
}

function documentName(name: string): JsonObject {
  const [kind = "", id = ""] = name.split("\n");
  return { kind, id };
}

function entryName(name: string): JsonObject {
  const at = name.indexOf("\n");
  return { run: name.slice(0, at), key: name.slice(at + 1) };
}

/** The mirror after the work was done. An entry is hardly ever asked for again, and a large document costs too much room. */
export function mirrored(mirror: Mirror, view: View, changes: Changes): void {
  const { accounts, calls, chains, documents } = changes;
  for (const [id, account] of accounts) {
    mirror.accounts.set(id, { value: account, version: (view.accounts.get(id)?.version ?? 0) + 1 });
  }
  for (const [id, call] of calls) {
    mirror.calls.set(id, { value: call, version: (view.calls.get(id)?.version ?? 0) + 1 });
  }
  for (const [chain, { head }] of chains) mirror.heads.set(chain, { value: head, version: head.seq });
  for (const [name, document] of documents) {
    if (JSON.stringify(document.body).length > SMALL) mirror.documents.delete(name);
    else mirror.documents.set(name, { value: document, version: document.version });
  }
}
