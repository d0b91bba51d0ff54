import type { JsonObject } from "../../core/chain/canonical.js";
import type { Changes } from "../../core/draft.js";
import { toStretches } from "../durable/lines.js";
import { type Reading, writeCall, writeState, writeTerms } from "../durable/rows.js";
import type { Mirror, Seen } from "./mirror.js";
import type { View } from "./view.js";

/** What `bursar_apply` is handed: what was read, and what is to be written if it still holds. */
export function workOf(view: View, changes: Changes, reading: Reading): JsonObject {
  const work = new Work();
  for (const [id, { version }] of view.accounts) if (version > 0) work.put("readBudgets", { id, version });
  for (const [id, { version }] of view.calls) if (version > 0) work.put("readCalls", { id, version });
  for (const [chain, { value }] of view.heads) if (value !== null) work.put("readHeads", { chain, seq: value.seq });
  putBudgets(work, view, changes, reading);
  putCalls(work, view, changes);
  putChains(work, view, changes);
  putDocuments(work, view, changes);
  return { ...work.lists, ...guards(view), asked: askedOf(view) };
}

/** Lists by name. Those that every decision has are there from the start; the others only when there is something in them. */
class Work {
  readonly lists: Record<string, JsonObject[]> = {
    readBudgets: [],
    readCalls: [],
    readHeads: [],
    budgets: [],
    calls: [],
    newCalls: [],
    heads: [],
    links: [],
  };

  put(list: string, item: JsonObject): void {
    const items = this.lists[list];
    if (items === undefined) this.lists[list] = [item];
    else items.push(item);
  }
}

function putBudgets(work: Work, view: View, { accounts }: Changes, reading: Reading): void {
  for (const { budget, chain, origin } of accounts.values()) {
    const { id, parent } = budget;
    const changing = { id, state: writeState(budget, reading), ended: budget.ended ? 1 : 0 };
    if ((view.accounts.get(id)?.version ?? 0) > 0) work.put("budgets", changing);
    else work.put("newBudgets", { ...changing, parent, chain, origin, terms: writeTerms(budget) });
  }
}

function putCalls(work: Work, view: View, { calls }: Changes): void {
  for (const call of calls.values()) {
    const { id, budget, kind, status, expires } = call;
    const changing = { id, status, body: writeCall(call) };
    if ((view.calls.get(id)?.version ?? 0) > 0) work.put("calls", changing);
    else work.put("newCalls", { ...changing, budget, kind, expires });
  }
}

function putChains(work: Work, view: View, { chains, anchored }: Changes): void {
  for (const [chain, { head, lines }] of chains) {
    const { seq, hash } = head;
    work.put((view.heads.get(chain)?.value ?? null) === null ? "newHeads" : "heads", { chain, seq, hash });
    for (const stretch of toStretches(seq, lines)) work.put("links", { chain, ...stretch });
  }
  for (const [chain, seq] of anchored) work.put("anchored", { chain, seq });
}

function putDocuments(work: Work, view: View, { documents, entries }: Changes): void {
  for (const [name, { kind, id, budget, status, body, version }] of documents) {
    const fresh = (view.documents.get(name)?.version ?? 0) === 0;
    work.put("documents", { kind, id, budget, status, body: JSON.stringify(body), version, fresh });
  }
  for (const { run, key, entry } of entries.values()) work.put("entries", { run, key, entry: JSON.stringify(entry) });
}

/** What was found absent has to be absent still. */
function guards(view: View): JsonObject {
  const absentBudgets = absent(view.accounts);
  const absentCalls = absent(view.calls);
  if (view.documents.size === 0 && view.entries.size === 0) return { absentBudgets, absentCalls };
  const readDocuments = [...view.documents].map(([name, { version }]) => ({ ...documentName(name), version }));
  const absentEntries = [...view.entries].filter(([, { version }]) => version === 0).map(([name]) => entryName(name));
  return { absentBudgets, absentCalls, readDocuments, absentEntries };
}

function absent(seen: ReadonlyMap<string, Seen<unknown>>): readonly string[] {
  const ids: string[] = [];
  for (const [id, { version }] of seen) if (version === 0) ids.push(id);
  return ids;
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

/** The mirror after the work was done. */
export function mirrored(mirror: Mirror, view: View, changes: Changes): void {
  const { accounts, calls, chains, documents, entries } = changes;
  for (const [id, account] of accounts) {
    mirror.accounts.set(id, { value: account, version: (view.accounts.get(id)?.version ?? 0) + 1 });
  }
  for (const [id, call] of calls) {
    mirror.calls.set(id, { value: call, version: (view.calls.get(id)?.version ?? 0) + 1 });
  }
  for (const [chain, { head }] of chains) mirror.heads.set(chain, { value: head, version: head.seq });
  for (const [name, document] of documents) mirror.documents.set(name, { value: document, version: document.version });
  for (const [name, entry] of entries) mirror.entries.set(name, { value: entry, version: 1 });
}
