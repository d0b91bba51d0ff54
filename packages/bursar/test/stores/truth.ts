import assert from "node:assert/strict";
import { type Amounts, type Budget, type Call, parseLine, type Store, sha256Hex, verifyChain } from "bursar";
import { type BudgetRow, type CallRow, readAccount, readCall } from "../../src/stores/durable/rows.js";
import type { Told } from "./child.js";
import type { Attempt, Witness } from "./witness.js";

/** Rows of a table, as they stand: the store's own answers would not do to prove the store right. */
export type Query = (sql: string) => Promise<readonly Record<string, unknown>[]>;

type Document = NonNullable<Told["document"]>;
type Entry = NonNullable<Told["entry"]>;

const SUMS = ["cost_usd", "steps"] as const;

export interface Books {
  readonly budgets: ReadonlyMap<string, Budget>;
  readonly calls: ReadonlyMap<string, Call>;
}

/** Everything that has to be true of a store after whatever has happened to it. */
export async function checkTruth(store: Store, query: Query, witness: Witness): Promise<Books> {
  const books = await readBooks(query);
  checkSums(books);
  const links = await checkChains(store, query);
  checkConsumption(books, links);
  const kept = await readKept(store, witness);
  for (const attempt of witness.acknowledged) checkAcknowledged({ ...books, ...kept }, links, attempt);
  await checkTogether(query, books, witness);
  return books;
}

async function readBooks(query: Query): Promise<Books> {
  const reading = { instant: 0, monotonic: 0, clock: "" };
  const budgets = await query("SELECT * FROM accounts");
  const calls = await query("SELECT * FROM calls");
  const byId = <Item extends { readonly id: string }>(items: readonly Item[]) =>
    new Map(items.map((item) => [item.id, item]));
  return {
    budgets: byId(budgets.map((row) => readAccount(row as unknown as BudgetRow, reading).budget)),
    calls: byId(calls.map((row) => readCall(row as unknown as CallRow))),
  };
}

/** What a budget has used is the sum over its calls and its children's, each counted once; what it holds, over open ones. */
function checkSums({ budgets, calls }: Books): void {
  const children = grouped(budgets.values(), ({ parent }) => parent ?? "");
  const own = grouped(calls.values(), ({ budget }) => budget);
  const usedBy = (id: string, sum: string): number =>
    total(own.get(id) ?? [], ({ charged }) => charged[sum]) +
    total(children.get(id) ?? [], (child) => usedBy(child.id, sum));
  for (const budget of budgets.values()) {
    const { id } = budget;
    const below = children.get(id) ?? [];
    const open = (own.get(id) ?? []).filter(({ status }) => status === "reserved");
    assert.equal(budget.open, open.length + below.filter(({ ended }) => !ended).length, `${id} counts what is open`);
    for (const sum of SUMS) {
      assert.equal(budget.used[sum] ?? 0, usedBy(id, sum), `${id} has used the ${sum} of its calls, each once`);
      const held = total(open, ({ asked }) => asked[sum]) + total(below, (child) => heldAbove(child, sum));
      assert.equal(budget.reserved[sum] ?? 0, held, `${id} holds the ${sum} of open calls and children`);
    }
  }
}

/** What a budget's parent holds because of it: the holds of its calls, or all that is left of its fraction. */
function heldAbove({ funding, ended, limits, extended, used, reserved }: Budget, sum: string): number {
  if (funding === "path") return reserved[sum] ?? 0;
  const limit = limits[sum];
  return ended || limit === undefined ? 0 : Math.max(0, limit + (extended[sum] ?? 0) - (used[sum] ?? 0));
}

function grouped<Item>(items: Iterable<Item>, key: (item: Item) => string): ReadonlyMap<string, readonly Item[]> {
  const groups = new Map<string, Item[]>();
  for (const item of items) {
    const group = groups.get(key(item));
    if (group === undefined) groups.set(key(item), [item]);
    else group.push(item);
  }
  return groups;
}

function total<Item>(items: readonly Item[], amount: (item: Item) => number | undefined): number {
  return items.reduce((sum, item) => sum + (amount(item) ?? 0), 0);
}

type Links = ReadonlyMap<string, ReturnType<typeof parseLine>>;

/** Every chain verifies against the head that the store gives, and there are no links that no head knows. */
async function checkChains(store: Store, query: Query): Promise<Links> {
  const links = new Map<string, ReturnType<typeof parseLine>>();
  const heads = await query("SELECT chain FROM heads");
  for (const { chain } of heads as readonly { chain: string }[]) {
    const lines: string[] = [];
    for await (const line of store.chain(chain)) lines.push(line);
    const head = await store.head(chain);
    assert.ok(head !== null, `chain ${chain} has a head`);
    const verified = await verifyChain(lines, { hash: sha256Hex, head });
    assert.ok(verified.ok, `chain ${chain}: ${verified.ok ? "" : verified.message}`);
    for (const line of lines) {
      const link = parseLine(line);
      links.set(link.id, link);
    }
  }
  const strays = await query(
    "SELECT links.chain FROM links LEFT JOIN heads ON heads.chain = links.chain WHERE heads.seq IS NULL OR links.seq > heads.seq",
  );
  assert.equal(strays.length, 0, "every link belongs to a chain with a head");
  return links;
}

/** The chain says of every call exactly once what it has used, and of every extension that it was granted. */
function checkConsumption({ budgets, calls }: Books, links: Links): void {
  const told = new Set<string>();
  const consumed = new Map<string, number>();
  const reasons = new Map<string, number>();
  for (const { event, data } of links.values()) {
    if (event === "Consumption") told.add(String(data.call_id));
    if (event === "Consumption" && (data.corrects ?? null) === null) count(consumed, String(data.call_id));
    if (event === "Extended") count(reasons, String(data.reason));
  }
  for (const [id, times] of [...consumed, ...reasons]) assert.equal(times, 1, `${id} is in the chain once`);
  for (const { id, status, kind } of calls.values()) {
    const charged = status === "committed" || (status === "expired" && kind === "model");
    assert.equal(told.has(id), charged, `the chain says of ${status} call ${id} what it used`);
  }
  const granted = budgets.get("tight")?.extended.cost_usd ?? 0;
  assert.equal(granted, reasons.size * 1_000_000_000, "every extension in the chain is counted once");
}

function count(counts: Map<string, number>, key: string): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** What was acknowledged is there, with its figures. */
function checkAcknowledged(books: Books & Kept, links: Links, attempt: Attempt): void {
  for (const [index, operation] of attempt.operations.entries()) {
    const told = attempt.outcomes?.[index];
    assert.ok(told !== undefined, `${attempt.n} was answered in full`);
    for (const link of told.links ?? []) assert.ok(links.has(link), `link ${link} of ${attempt.n} is there`);
    if (operation.op === "reserve" && told.kind === "admitted")
      checkReserved(books.calls.get(operation.call), operation.call, told.granted);
    if (operation.op === "commit") checkSettled(books.calls.get(operation.call), "committed", told.charged);
    if (operation.op === "charge") checkSettled(books.calls.get(operation.call), "committed", told.charged);
    if (operation.op === "release" && told.repeated === false) {
      checkSettled(books.calls.get(operation.call), "released", {});
    }
    if (operation.op === "open" && told.opened) assert.ok(books.budgets.has(told.opened), `${told.opened} is open`);
    if (operation.op === "end") assert.ok(books.budgets.get(operation.budget)?.ended, `${operation.budget} has ended`);
    checkKept(books, told);
  }
}

function checkReserved(call: Call | undefined, id: string, granted: Amounts | undefined) {
  assert.ok(call !== undefined, `admitted call ${id} is there`);
  assert.deepEqual(call.asked, granted, `call ${id} holds what it was told`);
}

function checkSettled(call: Call | undefined, status: Call["status"], charged: Amounts | undefined): void {
  assert.deepEqual([call?.status, call?.charged], [status, charged], `call ${call?.id} was settled as acknowledged`);
}

function checkKept({ documents, entries }: Kept, { document, entry }: Told): void {
  if (document !== undefined) {
    const kept = documents.get(document.id);
    assert.ok(kept !== undefined && kept.version >= document.version, `document ${document.id} is as acknowledged`);
    if (kept.version === document.version) assert.deepEqual(kept, document);
  }
  if (entry !== undefined) {
    const found = (entries.get(entry.run) ?? []).filter(({ key }) => key === entry.key);
    assert.deepEqual(found, [entry], `the entry ${entry.key} is there once`);
  }
}

interface Kept {
  readonly documents: ReadonlyMap<string, Document>;
  readonly entries: ReadonlyMap<string, readonly Entry[]>;
}

/** Documents and journals, read through the store. */
async function readKept(store: Store, witness: Witness): Promise<Kept> {
  const documents = new Map<string, Document>();
  for await (const document of store.documents("run")) documents.set(document.id, document);
  const entries = new Map<string, Entry[]>();
  for (const told of witness.acknowledged.flatMap(({ outcomes }) => outcomes ?? [])) {
    const run = told.entry?.run;
    if (run === undefined || entries.has(run)) continue;
    const all: Entry[] = [];
    for await (const entry of store.journal(run)) all.push(entry);
    entries.set(run, all);
  }
  return { documents, entries };
}

/** A list that was answered or not has happened as a whole or not at all. */
async function checkTogether(query: Query, { calls }: Books, { attempts }: Witness): Promise<void> {
  const keys = new Set((await query("SELECT key FROM journal")).map(({ key }) => String(key)));
  for (const { operations } of attempts) {
    const charge = operations.find((each) => each.op === "charge" && each.call.startsWith("together:"));
    if (charge?.op === "charge")
      assert.equal(calls.has(charge.call), keys.has(charge.call), `${charge.call} as a whole`);
  }
}

/** After all instants have passed, nothing is held for the dead any more: models are charged, tools given back. */
export async function checkNothingLeaks(store: Store, query: Query): Promise<void> {
  const before = (await readBooks(query)).calls;
  for (;;) {
    const [{ calls }] = await store.apply([{ op: "expire" }]);
    if (calls.length === 0) break;
  }
  const books = await readBooks(query);
  checkSums(books);
  for (const { id, status } of before.values()) {
    if (status !== "reserved") continue;
    const call = books.calls.get(id);
    assert.equal(call?.status, "expired", `call ${id} was settled`);
    for (const sum of SUMS) {
      const charged: number = call?.kind === "model" ? (call.asked[sum] ?? 0) : 0;
      assert.equal(call?.charged[sum] ?? 0, charged, `call ${id} is charged by its kind`);
    }
  }
  for (const { id, status } of books.calls.values()) assert.notEqual(status, "reserved", `call ${id} holds nothing`);
}
