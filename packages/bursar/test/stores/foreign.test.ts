import { chmodSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openStore } from "bursar";
import { openHousekeeping } from "bursar/store";
import { expect, test } from "vitest";
import { openDatabase } from "../../src/stores/sqlite/driver.js";
import { fill, SESSION } from "./filled.js";
import { temporaryFolder } from "./folder.js";

function withDatabase<Value>(path: string, work: (database: ReturnType<typeof openDatabase>) => Value): Value {
  const database = openDatabase(path);
  try {
    return work(database);
  } finally {
    database.close();
  }
}

test.for([
  ["without migrations", ["CREATE TABLE users (id INTEGER)"]],
  ["with migrations of its own", ["CREATE TABLE migrations (id INTEGER, name TEXT)"]],
  ["with only a view", ["CREATE VIEW one AS SELECT 1"]],
  ["with a mark of its own", ["CREATE TABLE users (id INTEGER)", "PRAGMA application_id = 77"]],
  ["with nothing but a mark of its own", ["PRAGMA application_id = 77"]],
] as const)("a database of another program, %s, is left as it is", async ([_, statements]) => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "theirs.db");
  withDatabase(path, (database) => {
    for (const statement of statements) database.exec(statement);
  });
  const before = readFileSync(path);
  const refused = { code: "store_schema", message: expect.stringContaining("belongs to another program") };
  await expect(openStore(`sqlite:${path}`)).rejects.toMatchObject(refused);
  await using housekeeping = openHousekeeping(`sqlite:${path}`);
  await expect(housekeeping.info()).rejects.toMatchObject(refused);
  await expect(housekeeping.migrate()).rejects.toMatchObject(refused);
  expect(readFileSync(path).equals(before)).toBe(true);
});

test("a new file says whose it is, and one from before that still opens", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "ours.db");
  {
    await using store = await openStore(`sqlite:${path}`);
    await fill(store);
  }
  expect(withDatabase(path, (database) => database.prepare("PRAGMA application_id").get())).toMatchObject({
    application_id: 0x42555253,
  });
  withDatabase(path, (database) => database.exec("PRAGMA application_id = 0"));
  await using store = await openStore(`sqlite:${path}`);
  expect((await store.budget(SESSION))?.id).toBe(SESSION);
});

test("an empty file becomes a store", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "empty.db");
  withDatabase(path, (database) => database.exec("VACUUM"));
  await using store = await openStore(`sqlite:${path}`);
  expect(await store.budget(SESSION)).toBeNull();
});

test("a file in a folder that may not be entered is denied", async () => {
  await using folder = await temporaryFolder();
  const closed = join(folder.path, "closed");
  mkdirSync(closed);
  chmodSync(closed, 0o000);
  chmodSync(folder.path, 0o755);
  // Root may enter everywhere, so it is somebody else for a moment.
  const root = process.geteuid?.() === 0;
  if (root) process.seteuid?.(65_534);
  try {
    await using housekeeping = openHousekeeping(`sqlite:${join(closed, "x.db")}`);
    await expect(housekeeping.info()).rejects.toMatchObject({ name: "StoreError", code: "store_denied" });
    await expect(housekeeping.migrate({ dry: true })).rejects.toMatchObject({ code: "store_denied" });
  } finally {
    if (root) process.seteuid?.(0);
    chmodSync(closed, 0o700);
  }
});
