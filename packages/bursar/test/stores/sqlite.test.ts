import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, test } from "vitest";
import { describeStore } from "../../src/testing/describe-store.js";
import { temporaryFolder } from "./folder.js";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());
let files = 0;

describeStore("SQLite store", (options) => SqliteStore.open({ path: join(folder.path, `${files++}.db`), ...options }), {
  describe,
  test,
});
