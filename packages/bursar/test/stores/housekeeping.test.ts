import { openStore } from "bursar";
import { openHousekeeping } from "bursar/store";
import { describe, expect, test } from "vitest";
import { KNOWN_SCHEMA } from "../../src/stores/durable/housekeeping/check.js";
import { bothEngines, filled } from "./housed.js";

const { sqlite, server } = await bothEngines();
const ENGINES = [
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const;

/** What each migration has done, undone; the latest first. */
const UNDONE: readonly (readonly [version: number, statements: readonly string[]])[] = [
  [5, ["DROP TABLE histories", "DROP TABLE batches"]],
  [
    4,
    ["runs", "approvals", "sessions", "leases", "keys", "tokens"].flatMap((table) => [
      `DROP INDEX ${table}_latest`,
      `DROP INDEX ${table}_latest_status`,
      `ALTER TABLE ${table} DROP COLUMN seq`,
    ]),
  ],
  [3, ["DROP TABLE tokens"]],
  [2, ["DROP TABLE keys"]],
];

describe.for(ENGINES)("looking after a %s store", ([name, engine]) => {
  test("begins with one look at it", async () => {
    await using housekeeping = openHousekeeping(await filled(engine));
    const info = await housekeeping.info();
    expect(info).toMatchObject({
      schema: KNOWN_SCHEMA,
      budgets: { open: 4, ended: 1 },
      calls: { all: 19, reserved: 3 },
      chains: { all: 4, archived: 0 },
      runs: { Completed: 1, Running: 1 },
      approvalsWaiting: 1,
    });
    expect(info.bytes).toBeGreaterThan(10_000);
    expect(info.oldestHold?.at).toBeGreaterThan(1e12);
    expect(JSON.stringify(info)).not.toContain("postgres:postgres");
  });

  test("says that there is none, and makes one when asked to", async () => {
    await using housekeeping = openHousekeeping(engine.fresh());
    await expect(housekeeping.info()).rejects.toMatchObject({ code: "store_missing" });
    expect(await housekeeping.migrate({ dry: true })).toMatchObject({ before: 0, after: 0, known: KNOWN_SCHEMA });
    await expect(housekeeping.check()).rejects.toMatchObject({ code: "store_missing" });
    expect(await housekeeping.migrate()).toMatchObject({ before: 0, after: KNOWN_SCHEMA });
    expect(await housekeeping.migrate()).toMatchObject({ before: KNOWN_SCHEMA, after: KNOWN_SCHEMA });
    expect(await housekeeping.check()).toMatchObject({ ok: true, budgets: 0 });
  });

  test("leaves tables of a newer Bursar alone", async () => {
    const url = await filled(engine);
    await engine.tamper(url, "INSERT INTO migrations (version, name, at) VALUES (99, 'later', 0)");
    await using housekeeping = openHousekeeping(url);
    await expect(housekeeping.check()).rejects.toThrow("schema version 99");
    expect(await housekeeping.migrate({ dry: true })).toMatchObject({ before: 99, after: 99, known: KNOWN_SCHEMA });
    expect(await housekeeping.migrate()).toMatchObject({ before: 99, after: 99 });
  });

  test.for([1, 2, 3])("brings tables of version %s up to date, and keeps what they hold", async (version) => {
    const url = await filled(engine);
    for (const statement of UNDONE.filter(([of]) => of > version).flatMap(([, statements]) => statements)) {
      await engine.tamper(url, statement);
    }
    await engine.tamper(url, `DELETE FROM migrations WHERE version > ${version}`);
    await using housekeeping = openHousekeeping(url);
    expect(await housekeeping.migrate()).toMatchObject({ before: version, after: KNOWN_SCHEMA });
    expect(await housekeeping.check()).toMatchObject({ ok: true, budgets: 5 });
    await using store = await openStore(url);
    for (const kind of ["key", "token"] as const) {
      const document = { kind, id: "k", budget: null, status: "active", body: {}, version: 0 } as const;
      await store.apply([{ op: "put", ...document }]);
      expect(await store.document(kind, "k")).toEqual({ ...document, version: 1 });
    }
  });

  test("gives room back", async () => {
    await using housekeeping = openHousekeeping(await filled(engine));
    const { bytesBefore, bytesAfter } = await housekeeping.vacuum();
    expect(bytesBefore).toBeGreaterThan(0);
    expect(bytesAfter).toBeGreaterThan(0);
    expect(await housekeeping.check()).toMatchObject({ ok: true });
    if (name === "PostgreSQL") await expect(housekeeping.backup("x.db")).rejects.toThrow("pg_dump");
  });
});
