import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { openHousekeeping } from "bursar/store";
import { expect, test } from "vitest";
import type { PutOperation } from "../../src/core/operation.js";
import type { Store } from "../../src/ports/store.js";
import { pending } from "../../src/stores/durable/schema.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openDatabase } from "../../src/stores/sqlite/driver.js";
import { latest } from "../../src/views/latest.js";
import { listOf } from "../runs/stage.js";
import { temporaryFolder } from "../stores/folder.js";

const put = (id: string, status = "open"): PutOperation => {
  return { op: "put", kind: "run", id, budget: null, status, body: {}, version: 0 };
};

async function idsIn(store: Store): Promise<readonly string[]> {
  return (await listOf(store.latest("run", { limit: 100 }))).map(({ id }) => id);
}

test("a file from before documents had numbers is brought up to date, and new ones come first", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "old.db");
  const old = openDatabase(path);
  old.exec("CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL, at DOUBLE PRECISION NOT NULL)");
  for (const { version, name, statements } of pending(0, { serial: "INTEGER PRIMARY KEY", name: "TEXT" })) {
    if (version > 3) continue;
    for (const statement of statements) old.exec(statement);
    old.prepare("INSERT INTO migrations VALUES (?, ?, 0)").run(version, name);
  }
  for (const id of ["b", "c", "a"]) old.prepare("INSERT INTO runs VALUES (?, NULL, 'open', '{}', 1)").run(id);
  old.close();

  await using store = await SqliteStore.open({ path });
  await store.apply([put("0")]);
  expect(await idsIn(store)).toEqual(["0", "c", "b", "a"]);
});

test("what was exported and imported is in the same order", async () => {
  await using folder = await temporaryFolder();
  const [from, to] = [join(folder.path, "from.db"), join(folder.path, "to.db")];
  {
    await using store = await SqliteStore.open({ path: from });
    for (const id of ["b", "c", "a"]) await store.apply([put(id)]);
  }
  const pieces: string[] = [];
  {
    await using house = openHousekeeping(`sqlite:${from}`);
    await house.export(async (piece) => void pieces.push(piece));
  }
  {
    await using house = openHousekeeping(`sqlite:${to}`);
    await house.import(pieces);
  }
  await using store = await SqliteStore.open({ path: to });
  await store.apply([put("0")]);
  expect(await idsIn(store)).toEqual(["0", "a", "c", "b"]);
});

test("whoever looks for what is rare gets a short page and where to go on, and finds it in the end", async () => {
  const store = new MemoryStore();
  for (let from = 0; from < 10_000; from += 1000) {
    await store.apply(Array.from({ length: 1000 }, (_, index) => put(`r${from + index}`)));
  }
  const read = ({ id }: { readonly id: string }) => (id === "r17" ? id : null);
  const found: string[] = [];
  let pages = 0;
  for (let before: string | null | undefined; before !== null; pages++) {
    const page = await latest<string>(store, { kind: "run", limit: 50, read, before: before ?? undefined });
    found.push(...page.items);
    before = page.next;
  }
  expect(found).toEqual(["r17"]);
  expect(pages).toBeGreaterThan(1);
  expect(pages).toBeLessThan(10);
});
