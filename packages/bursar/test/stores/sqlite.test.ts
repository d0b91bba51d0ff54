import { chmod, readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { describeStore } from "../../src/testing/describe-store.js";
import { temporaryFolder } from "./folder.js";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());
let files = 0;

describeStore("SQLite store", (options) => SqliteStore.open({ path: join(folder.path, `${files++}.db`), ...options }), {
  describe,
  test,
});

test("nobody but its owner can read a new file, unless he says so", async () => {
  await using own = await temporaryFolder();
  const path = join(own.path, "x.db");
  const modes = async () => {
    const names = (await readdir(own.path)).sort();
    return Promise.all(names.map(async (name) => [name, (await stat(join(own.path, name))).mode & 0o777] as const));
  };
  {
    await using store = await SqliteStore.open({ path });
    expect(store.file).toBe(path);
    expect(await modes()).toEqual([
      ["x.db", 0o600],
      ["x.db-shm", 0o600],
      ["x.db-wal", 0o600],
    ]);
  }
  await chmod(path, 0o640);
  await using store = await SqliteStore.open({ path });
  expect(store.file).toBe(path);
  expect((await modes())[0]).toEqual(["x.db", 0o640]);
});
