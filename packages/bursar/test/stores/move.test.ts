import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { openStore, sha256Hex, verifyChain } from "bursar";
import { describe, expect, test } from "vitest";
import { ALL_TABLES } from "../../src/stores/durable/housekeeping/tables.js";
import { amounts, OPEN_RUN, SESSION } from "./filled.js";
import { temporaryFolder } from "./folder.js";
import { bothEngines, checked, exported, filled, imported } from "./housed.js";

const { sqlite, server } = await bothEngines();
const ENGINES = [
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const;

describe.for([
  ["SQLite", "PostgreSQL", sqlite, server],
  ["PostgreSQL", "SQLite", server, sqlite],
] as const)("a move from %s to %s", ([, , from, to]) => {
  test("takes everything along, and the next operation works", async () => {
    const text = await exported(await filled(from));
    const url = to.fresh();
    const { counts } = await imported(url, text);
    expect(counts).toMatchObject({ budgets: 5, calls: 19, heads: 4, journal: 2, runs: 2, approvals: 1 });
    expect(await checked(url)).toMatchObject({ ok: true, defects: [], calls: 19 });
    {
      await using store = await openStore(url);
      await store.apply([{ op: "commit", call: "in flight", used: amounts({ cost_usd: 0.2 }) }]);
      await store.apply([{ op: "journal", run: OPEN_RUN, key: "2", entry: {} }, { op: "anchor" }]);
      const head = await store.head(OPEN_RUN);
      expect(await verifyChain(store.chain(OPEN_RUN), { hash: sha256Hex, head: head ?? undefined })).toMatchObject({
        ok: true,
      });
      expect(await store.document("run", OPEN_RUN)).toMatchObject({ status: "Running", body: { ä: "€" } });
    }
    expect(await checked(url)).toMatchObject({ ok: true, defects: [] });
  });

  test("and back gives the same export, but for its instant", async () => {
    const text = await exported(await filled(from));
    const [there, back] = [to.fresh(), from.fresh()];
    await imported(there, text);
    await imported(back, await exported(there));
    const body = (whole: string) => whole.split("\n").slice(1, -2).sort();
    expect(body(await exported(back))).toEqual(body(text));
  });
});

describe.for(ENGINES)("an import into %s", ([, engine]) => {
  const changes: readonly (readonly [string, (text: string) => string, string])[] = [
    ["cut in a line", (text) => text.slice(0, text.length / 2), "cut"],
    ["cut between lines", (text) => text.split("\n").slice(0, 20).join("\n"), "cut short"],
    ["with a changed figure", (text) => text.replace("123456789", "123456780"), "SHA-256"],
    ["with a line less", (text) => text.split("\n").toSpliced(5, 1).join("\n"), "SHA-256"],
    ["with something after its end", (text) => `${text}{}\n`, "after the end"],
    ["of a newer format", (text) => text.replace('"version":1', '"version":2'), "format 2"],
    ["of another schema", (text) => text.replace(/"schema":\d+/, '"schema":9'), "schema version 9"],
    ["that is something else", () => "PK\u0003\u0004", "no export of a store"],
    ["that is empty", () => "", "it is empty"],
    ["that was changed with care", withChangedCharge, "by its own row it is"],
  ];

  test.for(changes)("refuses a file %s, and leaves nothing behind", async ([, change, problem]) => {
    const url = engine.fresh();
    const text = change(await exported(await filled(sqlite)));
    await expect(imported(url, text)).rejects.toThrow(problem);
    await using store = await openStore(url);
    expect(await store.budget(SESSION)).toBeNull();
    expect(await store.head(SESSION)).toBeNull();
  });

  test("refuses a store that is not empty", async () => {
    const url = await filled(engine);
    await expect(imported(url, await exported(url))).rejects.toThrow("is not empty");
    expect(await checked(url)).toMatchObject({ ok: true });
  });
});

/** A forger who knows about the sum at the end. */
function withChangedCharge(text: string): string {
  const lines = text.trimEnd().split("\n");
  const { end, counts } = JSON.parse(lines.pop() ?? "") as { end: true; counts: object };
  const body = `${lines.map((line) => (line.includes('"part/used"') ? line.replace("123456789", "1") : line)).join("\n")}\n`;
  return `${body}${JSON.stringify({ end, counts, sha256: sha256Hex(body) })}\n`;
}

test("an import that is refused leaves no file where there was none", async () => {
  await using folder = await temporaryFolder();
  await expect(imported(`sqlite:${join(folder.path, "new.db")}`, "{}\n")).rejects.toThrow("no export of a store");
  expect(await readdir(folder.path)).toEqual([]);
});

test("every column of every table is exported", async () => {
  const url = await filled(sqlite);
  const tables = await sqlite.rows(
    url,
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite%'",
  );
  const ours = new Set(tables.map(({ name }) => String(name)));
  // Which migrations have run is the engine's own, and the header says the version.
  ours.delete("migrations");
  expect(new Set(ALL_TABLES.map(({ name }) => name))).toEqual(ours);
  for (const { name, columns } of ALL_TABLES) {
    const found = await sqlite.rows(url, `SELECT name FROM pragma_table_info('${name}') ORDER BY cid`);
    const numbers = name === "journal" ? ["seq"] : [];
    expect([...numbers, ...Object.keys(columns)]).toEqual(found.map((column) => column.name));
  }
});
