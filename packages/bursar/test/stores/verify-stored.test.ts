import { openStore, verifyStored } from "bursar";
import { describe, expect, test } from "vitest";
import { ENDED_RUN, OPEN_RUN } from "./filled.js";
import { bothEngines, filled } from "./housed.js";

const { sqlite, server } = await bothEngines();

describe.for([
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const)("a chain of a %s store", ([, engine]) => {
  test("is verified against its head and its anchors", async () => {
    await using store = await openStore(await filled(engine));
    const head = await store.head(ENDED_RUN);
    expect(await verifyStored(store, ENDED_RUN)).toMatchObject({ ok: true, anchored: head?.seq, head });
    expect(await verifyStored(store, "bursar:tenant")).toMatchObject({ ok: true, anchored: null });
    expect(await verifyStored(store, "nothing")).toMatchObject({ ok: false, reason: "empty" });
  });

  test("is not verified when it was cut, with its head, or rewritten as a whole", async () => {
    const url = await filled(engine);
    const other = await filled(engine);
    const rows = await engine.rows(other, `SELECT seq, lines FROM links WHERE chain = '${ENDED_RUN}'`);
    const [head] = await engine.rows(other, `SELECT hash FROM heads WHERE chain = '${ENDED_RUN}'`);
    for (const { seq, lines } of rows) {
      const quoted = String(lines).replaceAll("'", "''");
      await engine.tamper(url, `UPDATE links SET lines = '${quoted}' WHERE chain = '${ENDED_RUN}' AND seq = ${seq}`);
    }
    await engine.tamper(url, `UPDATE heads SET hash = '${head?.hash}' WHERE chain = '${ENDED_RUN}'`);
    const last = (await engine.rows(url, `SELECT max(seq) AS seq FROM links WHERE chain = '${OPEN_RUN}'`))[0]?.seq;
    await engine.tamper(url, `DELETE FROM links WHERE chain = '${OPEN_RUN}' AND seq = ${last}`);
    const [left] = await engine.rows(
      url,
      `SELECT lines FROM links WHERE chain = '${OPEN_RUN}' ORDER BY seq DESC LIMIT 1`,
    );
    const { seq, hash } = JSON.parse(String(left?.lines).split("\n").at(-1) ?? "");
    await engine.tamper(url, `UPDATE heads SET seq = ${seq}, hash = '${hash}' WHERE chain = '${OPEN_RUN}'`);
    await using store = await openStore(url);
    const rewritten = { ok: false, reason: "wrong_anchor", message: expect.stringContaining("is another one now") };
    expect(await verifyStored(store, ENDED_RUN)).toMatchObject(rewritten);
    const cut = { ok: false, reason: "wrong_anchor", message: expect.stringContaining("is not there") };
    expect(await verifyStored(store, OPEN_RUN)).toMatchObject(cut);
  });
});
