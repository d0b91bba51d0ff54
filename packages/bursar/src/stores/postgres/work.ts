import type { Account } from "../../core/books.js";
import type { Call } from "../../core/call.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import type { Changes, Growth } from "../../core/draft.js";
import { toStretches } from "../durable/lines.js";
import { bodyOf, type Reading, stateOf, writeState, writeTerms } from "../durable/rows.js";
import { type Mirror, type Seen, SMALL } from "./mirror.js";
import type { Plan } from "./planner.js";
import type { View } from "./view.js";

/** What is to be written, each with the version it replaces, and what else must still hold. */
export interface Work {
  /** How many rows have to be found at the version they are said to have. */
  readonly changing: number;
  /** What most decisions write. States and bodies are JSON inside of JSON and reach their column as they are. */
  readonly often: Lists;
  /** What most decisions do not need; null when there is nothing. */
  readonly rest: object | null;
}

export function workOf({ view, changes, reading, token }: Plan): Work {
  const often: Lists = { budgets: [], calls: [], heads: [], links: [], entries: [] };
  const rare: Lists = { newBudgets: [], newHeads: [], anchored: [] };
  putBudgets(often, rare, view, changes, reading);
  putCalls(often, view, changes);
  putChains(often, rare, view, changes);
  putDocuments(often, rare, view, changes);
  const changing = count(often.budgets) + count(often.calls) + count(often.heads);
  const isRare = Object.values(rare).some((list) => list.length > 0);
  const holding = holdingOf(view, changes);
  const rest = { ...(isRare && { rare }), ...(holding && { holding }), ...(token !== null && { plan: token }) };
  return { changing, often, rest: Object.keys(rest).length === 0 ? null : rest };
}

const OFTEN = ["budgets", "calls", "heads", "links", "entries"];

/** The parameters of `bursar_apply`, as texts. */
export function parametersOf({ changing, often, rest }: Work): readonly (string | null)[] {
  const lists = OFTEN.map((name) => (count(often[name]) === 0 ? null : JSON.stringify(often[name])));
  return [...lists, String(changing), rest === null ? null : JSON.stringify(rest)];
}

type Lists = Record<string, object[]>;

function count(list: readonly object[] | undefined): number {
  return list?.length ?? 0;
}

/** Sorted by name, so that all transactions lock in the same order. */
function putBudgets(often: Lists, rare: Lists, view: View, { accounts }: Changes, reading: Reading): void {
  for (const id of [...accounts.keys()].sort()) {
    const { budget, chain, origin } = accounts.get(id) as Account;
    const version = view.accounts.get(id)?.version ?? 0;
    const ended = budget.ended ? 1 : 0;
    if (version > 0) {
      often.budgets?.push({ id, state: stateOf(budget, reading), ended, version });
      continue;
    }
    const [state, terms] = [writeState(budget, reading), writeTerms(budget)];
    rare.newBudgets?.push({ id, parent: budget.parent, chain, origin, terms, state, ended });
  }
}

function putCalls(often: Lists, view: View, { calls }: Changes): void {
  for (const id of [...calls.keys()].sort()) {
    const call = calls.get(id) as Call;
    const { budget, kind, status, expires } = call;
    const version = (view.calls.get(id)?.version ?? 0) + 1;
    often.calls?.push({ id, budget, kind, status, expires, body: bodyOf(call), version });
  }
}

function putChains(often: Lists, rare: Lists, view: View, { chains, anchored }: Changes): void {
  for (const chain of [...chains.keys()].sort()) {
    const { head, lines } = chains.get(chain) as Growth;
    const { seq, hash } = head;
    const before = view.heads.get(chain)?.value ?? null;
    if (before === null) rare.newHeads?.push({ chain, seq, hash });
    else often.heads?.push({ chain, seq, hash, before: before.seq });
    for (const stretch of toStretches(seq, lines)) often.links?.push({ chain, seq: stretch.seq, lines: stretch.lines });
  }
  for (const [chain, seq] of anchored) rare.anchored?.push({ chain, seq });
}

function putDocuments(often: Lists, rare: Lists, view: View, { documents, entries }: Changes): void {
  for (const [name, { kind, id, budget, status, body, version }] of documents) {
    const fresh = (view.documents.get(name)?.version ?? 0) === 0;
    rare.documents ??= [];
    rare.documents.push({ kind, id, budget, status, body: JSON.stringify(body), version, fresh });
  }
  for (const { run, key, entry } of entries.values()) {
    often.entries?.push({ run, key, entry });
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
