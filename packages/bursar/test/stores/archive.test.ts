import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Clock, openStore, sha256Hex, systemClock, verifyJsonl } from "bursar";
import { openHousekeeping } from "bursar/store";
import { describe, expect, test } from "vitest";
import { fileName } from "../../src/stores/durable/housekeeping/archive.js";
import { ENDED_RUN, OPEN_RUN } from "./filled.js";
import { temporaryFolder } from "./folder.js";
import { bothEngines, checked, exported, filled, imported } from "./housed.js";

const { sqlite, server } = await bothEngines();
const ENGINES = [
  ["SQLite", sqlite],
  ["PostgreSQL", server],
] as const;

/** What has just ended has ended an hour ago by this clock. */
const NEXT_HOUR: Clock = {
  now: () => {
    const { instant, monotonic } = systemClock.now();
    return { instant: instant + 3_600_000, monotonic };
  },
};

describe.for(ENGINES)("an archive of a %s store", ([, engine]) => {
  test("keeps figures, anchors and what can be verified, and takes the rest out", async () => {
    await using folder = await temporaryFolder();
    const url = await filled(engine);
    await using housekeeping = openHousekeeping(url, { clock: NEXT_HOUR });
    expect(await housekeeping.archive({ folder: folder.path, older_ms: 7_200_000 })).toEqual({
      archived: [],
      skipped: [],
    });
    {
      await using store = await openStore(url);
      await store.apply([{ op: "record", budget: ENDED_RUN, action: { action_type: "Noted", data: {} } }]);
    }
    const dry = await housekeeping.archive({ folder: folder.path, older_ms: 0, dry: true });
    expect(dry.archived).toMatchObject([{ chain: ENDED_RUN, file: `${ENDED_RUN}.jsonl` }]);
    expect(await readdir(folder.path)).toEqual([]);

    const { archived } = await housekeeping.archive({ folder: folder.path, older_ms: 0 });
    expect(archived).toEqual(dry.archived);
    expect(await readdir(folder.path)).toEqual([`${ENDED_RUN}.jsonl`]);
    expect(await engine.rows(url, `SELECT id FROM calls WHERE budget = '${ENDED_RUN}'`)).toHaveLength(0);
    expect(await engine.rows(url, "SELECT run FROM journal")).toMatchObject([{ run: OPEN_RUN }]);
    expect(await checked(url, folder.path)).toMatchObject({ ok: true, defects: [], archived: 1, anchors: 5 });

    await using store = await openStore(url);
    expect((await store.budget(ENDED_RUN))?.used.cost_usd).toBeGreaterThan(0);
    const head = (await store.head(ENDED_RUN)) ?? undefined;
    const file = await readFile(join(folder.path, `${ENDED_RUN}.jsonl`));
    expect(await verifyJsonl([file], { hash: sha256Hex, head })).toMatchObject({ ok: true, chain: ENDED_RUN });
    await expect(store.chain(ENDED_RUN)[Symbol.asyncIterator]().next()).rejects.toMatchObject({
      code: "store_archived",
      message: expect.stringContaining(`${ENDED_RUN}.jsonl`),
    });
    expect((await housekeeping.archive({ folder: folder.path, older_ms: 0 })).archived).toEqual([]);
  });

  test("takes out every part of a run's journal, and nothing of a run that is called like one", async () => {
    await using folder = await temporaryFolder();
    const url = await filled(engine);
    const parts = [`${ENDED_RUN}:1`, `${ENDED_RUN}:12`];
    const others = [`${ENDED_RUN}:7`, `${ENDED_RUN}:x`, `${ENDED_RUN}-2:1`, `${OPEN_RUN}:1`];
    {
      await using store = await openStore(url);
      for (const run of [...parts, ...others]) await store.apply([{ op: "journal", run, key: "1", entry: {} }]);
      const run = { kind: "run", id: `${ENDED_RUN}:7`, budget: OPEN_RUN, status: "Running", body: {} } as const;
      await store.apply([{ op: "put", ...run, version: 0 }]);
    }
    await using housekeeping = openHousekeeping(url, { clock: NEXT_HOUR });
    expect((await housekeeping.archive({ folder: folder.path, older_ms: 0 })).archived).toHaveLength(1);
    const left = await engine.rows(url, "SELECT run FROM journal");
    expect(left.map(({ run }) => run).sort()).toEqual([OPEN_RUN, ...others].sort());
  });

  test("is found out when its file is changed or lost", async () => {
    await using folder = await temporaryFolder();
    const url = await filled(engine);
    await using housekeeping = openHousekeeping(url, { clock: NEXT_HOUR });
    await housekeeping.archive({ folder: folder.path, older_ms: 0 });
    const path = join(folder.path, `${ENDED_RUN}.jsonl`);
    await writeFile(path, (await readFile(path, "utf8")).replace("0.123456789", "0.1"));
    expect((await checked(url, folder.path)).defects).toMatchObject([{ where: `chain ${ENDED_RUN}` }]);
    expect((await checked(url, join(folder.path, "elsewhere"))).defects[0]?.problem).toContain("is not in");
    expect((await checked(url)).defects).toEqual([]);
  });

  test("can be gone on with after it was interrupted, and a chain that grows again stays sound", async () => {
    await using folder = await temporaryFolder();
    const url = await filled(engine);
    await using housekeeping = openHousekeeping(url, { clock: NEXT_HOUR });
    await using store = await openStore(url);
    const lines: string[] = [];
    for await (const line of store.chain(ENDED_RUN)) lines.push(line);
    await writeFile(join(folder.path, `${ENDED_RUN}.jsonl`), `${lines.join("\n")}\n`);
    expect((await housekeeping.archive({ folder: folder.path, older_ms: 0 })).archived).toHaveLength(1);

    await store.apply([{ op: "record", budget: ENDED_RUN, action: { action_type: "Noted", data: {} } }]);
    const later: string[] = [];
    for await (const line of store.chain(ENDED_RUN, lines.length)) later.push(line);
    expect(later).toHaveLength(1);
    await expect(store.chain(ENDED_RUN)[Symbol.asyncIterator]().next()).rejects.toThrow("was archived");
    const report = await checked(url, folder.path);
    expect(report).toMatchObject({ ok: true, errors: 0, warnings: 1 });
  });

  test("writes anew what an interrupted attempt has left of a chain that has grown, and nobody else's file", async () => {
    await using folder = await temporaryFolder();
    const url = await filled(engine);
    await using housekeeping = openHousekeeping(url, { clock: NEXT_HOUR });
    await using store = await openStore(url);
    const lines: string[] = [];
    for await (const line of store.chain(ENDED_RUN)) lines.push(line);
    const path = join(folder.path, `${ENDED_RUN}.jsonl`);
    await writeFile(path, `${lines.slice(0, 3).join("\n")}\n`);
    expect((await housekeeping.archive({ folder: folder.path, older_ms: 0 })).archived).toHaveLength(1);
    expect(await readFile(path, "utf8")).toBe(`${lines.join("\n")}\n`);

    await using other = openHousekeeping(await filled(engine), { clock: NEXT_HOUR });
    await expect(other.archive({ folder: folder.path, older_ms: 0 })).rejects.toThrow("so it stays in the store");
    expect(await readFile(path, "utf8")).toBe(`${lines.join("\n")}\n`);
    expect(await other.check()).toMatchObject({ ok: true, archived: 0 });
  });

  test("survives the move to another store", async () => {
    await using folder = await temporaryFolder();
    const url = await filled(engine);
    await using housekeeping = openHousekeeping(url, { clock: NEXT_HOUR });
    await housekeeping.archive({ folder: folder.path, older_ms: 0 });
    const other = server.fresh();
    await imported(other, await exported(url));
    expect(await checked(other, folder.path)).toMatchObject({ ok: true, archived: 1, defects: [] });
  });
});

test("every chain gets a file name that any file system takes, and no two the same", () => {
  expect(fileName("run-7")).toBe("run-7.jsonl");
  expect(fileName("../../etc/passwd")).toMatch(/^_.._etc_passwd~[0-9a-f]{12}\.jsonl$/);
  const chains = [
    "Run",
    "run",
    "RUN",
    "a/b",
    "a_b",
    "a b",
    "nul",
    "con.x",
    ".",
    "..",
    "ä",
    "🙂",
    "x".repeat(200),
    "a.",
  ];
  const files = chains.map(fileName);
  expect(new Set(files.map((file) => file.toLowerCase())).size).toBe(chains.length);
  for (const file of files) expect(file).toMatch(/^[A-Za-z0-9_~][A-Za-z0-9._~-]{0,110}\.jsonl$/);
});
