import { join } from "node:path";
import { SqliteStore } from "bursar/sqlite";
import { expect, test } from "vitest";
import { HELD } from "../../src/stores/sqlite/lookup.js";
import { queryOf } from "./file-query.js";
import { temporaryFolder } from "./folder.js";

test("SQLite finds the calls that hold something without reading those that are settled", async () => {
  await using folder = await temporaryFolder();
  const path = join(folder.path, "bursar.db");
  await using _store = await SqliteStore.open({ path });
  const plan = await queryOf(path)(`EXPLAIN QUERY PLAN ${HELD.replace("?", "''")}`);
  expect(plan.map(({ detail }) => detail)[0]).toBe("SCAN calls USING INDEX calls_due");
});
