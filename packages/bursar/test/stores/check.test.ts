import { readFile, writeFile } from "node:fs/promises";
import { openStore } from "bursar";
import { LeasingStore } from "bursar/lease";
import { openHousekeeping } from "bursar/store";
import { describe, expect, test } from "vitest";
import { amounts, ENDED_RUN, OPEN_RUN, SESSION } from "./filled.js";
import { bothEngines, checked, filled } from "./housed.js";

const { sqlite, server } = await bothEngines();
const ENGINES = [
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const;

describe.for(ENGINES)("a check of a %s store", ([name, engine]) => {
  test("finds nothing wrong with a sound one", async () => {
    const report = await checked(await filled(engine));
    expect(report).toMatchObject({ ok: true, defects: [], chains: 4, budgets: 5, calls: 19, anchors: 4, schema: 5 });
    expect(report.integrity).toBe(name === "SQLite" ? "sound" : "not_available");
    expect(report.links).toBeGreaterThan(30);
  });

  test.for([
    [
      "a changed link",
      "UPDATE links SET lines = replace(lines, '0.123456789', '0.023456789')",
      "does not match its hash",
    ],
    [
      "a missing last link",
      `DELETE FROM links WHERE seq = (SELECT max(seq) FROM links WHERE chain = '${SESSION}')`,
      "end is missing",
    ],
    ["a changed head", `UPDATE heads SET seq = seq - 1 WHERE chain = '${OPEN_RUN}'`, "known head"],
    ["a lost head", `DELETE FROM heads WHERE chain = '${ENDED_RUN}'`, "has links but no head"],
    [
      "usage taken back",
      `UPDATE states SET state = replace(state, '"cost_usd"', '"fuel"') WHERE id = '${SESSION}'`,
      "add up to",
    ],
    [
      "a changed charge",
      "UPDATE calls SET body = replace(body, '123456789', '23456789') WHERE id = 'part/used'",
      "add up to $0.233",
    ],
    ["a forgotten hold", "UPDATE calls SET status = 'released' WHERE id = 'in flight'", "calls and children need"],
    ["a lost call", "DELETE FROM calls WHERE id = 'in flight'", "are open, but there are"],
    ["a lost budget", "DELETE FROM budgets WHERE id = 'part'", "is not there, but"],
    [
      "an extension nobody granted",
      `UPDATE states SET state = replace(state, '"extended":{"cost_usd":250000000', '"extended":{"cost_usd":950000000') WHERE id = '${OPEN_RUN}'`,
      "extended.cost_usd is $0.95 in the store, $0.25 by its chain",
    ],
    [
      "a raised limit",
      `UPDATE budgets SET terms = replace(terms, '10000000000', '90000000000') WHERE id = '${SESSION}'`,
      "says a limit of 10 for cost_usd, not 90",
    ],
    ["a row that is no JSON", "UPDATE states SET state = '{' WHERE id = 'part'", "cannot be read"],
  ] as const)("finds %s", async ([, sql, problem]) => {
    const url = await filled(engine);
    await engine.tamper(url, sql);
    const { ok, defects, errors } = await checked(url);
    expect(ok).toBe(false);
    expect(errors).toBeGreaterThan(0);
    expect(defects.map((defect) => defect.problem).join("\n")).toContain(problem);
    expect(defects.every(({ where, advice }) => where !== "" && advice !== "")).toBe(true);
  });

  test("finds a chain that was rewritten as a whole, because the tenant's chain remembers it", async () => {
    const url = await filled(engine);
    const other = await filled(engine);
    const rows = await engine.rows(other, `SELECT seq, lines FROM links WHERE chain = '${ENDED_RUN}'`);
    const [head] = await engine.rows(other, `SELECT hash FROM heads WHERE chain = '${ENDED_RUN}'`);
    for (const { seq, lines } of rows) {
      const quoted = String(lines).replaceAll("'", "''");
      await engine.tamper(url, `UPDATE links SET lines = '${quoted}' WHERE chain = '${ENDED_RUN}' AND seq = ${seq}`);
    }
    await engine.tamper(url, `UPDATE heads SET hash = '${head?.hash}' WHERE chain = '${ENDED_RUN}'`);
    const { defects } = await checked(url);
    expect(defects).toContainEqual(
      expect.objectContaining({ where: `chain ${ENDED_RUN}`, problem: expect.stringContaining("vouches for") }),
    );
  });
});

test("damaged pages are found, told, and do not stop the rest", async () => {
  const url = await filled(sqlite);
  const file = url.slice("sqlite:".length);
  await sqlite.tamper(url, "PRAGMA wal_checkpoint(TRUNCATE)");
  const [index] = await sqlite.rows(url, "SELECT rootpage FROM sqlite_master WHERE name = 'sqlite_autoindex_calls_1'");
  const bytes = await readFile(file);
  bytes.fill(0xff, (Number(index?.rootpage) - 1) * 4096 + 8, Number(index?.rootpage) * 4096 - 1000);
  await writeFile(file, bytes);
  const report = await checked(url);
  expect(report).toMatchObject({ ok: false, integrity: "damaged", chains: 4 });
  expect(report.defects[0]).toMatchObject({ severity: "error", advice: "restore a backup" });
  await using housekeeping = openHousekeeping(url);
  await expect(housekeeping.export(async () => {})).rejects.toMatchObject({ code: "store_damaged" });
  await expect(housekeeping.backup(`${file}.backup`)).rejects.toMatchObject({ code: "store_damaged" });
});

test("slices that processes hold of a budget add up too", async () => {
  const url = await filled(sqlite);
  {
    await using store = await openStore(url);
    await using leasing = await LeasingStore.open({ store, budgets: [SESSION], name: "worker" });
    const asked = amounts({ cost_usd: 0.01, steps: 1 });
    for (let at = 0; at < 20; at++) {
      await leasing.apply([{ op: "reserve", budget: SESSION, call: `leased ${at}`, kind: "tool", asked }]);
      if (at % 3 > 0) await leasing.apply([{ op: "commit", call: `leased ${at}`, used: asked }]);
    }
    expect(await checked(url)).toMatchObject({ ok: true, defects: [] });
  }
  expect(await checked(url)).toMatchObject({ ok: true, defects: [] });
});
