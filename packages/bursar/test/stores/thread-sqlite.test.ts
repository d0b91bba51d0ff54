import { execFile } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Operation } from "bursar";
import { SqliteStore } from "bursar/sqlite";
import { describe, expect, test } from "vitest";
import { openDatabase } from "../../src/stores/sqlite/driver.js";
import { temporaryFolder } from "./folder.js";

const OPEN: Operation = {
  op: "open",
  parent: null,
  opening: { id: "all", scope: "shared", grant: { kind: "limits", limits: {} } },
};
const charge = (call: string): Operation => ({ op: "charge", budget: "all", call, used: { steps: 1 } as never });

describe("a SQLite store", () => {
  test("fails one list that cannot be written, and not those that share its transaction", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.db");
    await using store = await SqliteStore.open({ path });
    await store.apply([OPEN]);
    const database = openDatabase(path);
    database.exec(`CREATE TRIGGER no BEFORE INSERT ON calls WHEN NEW.id = 'bad' BEGIN SELECT RAISE(ABORT, 'no'); END`);
    database.close();
    const calls = ["a", "bad", "b"];
    const answers = await Promise.allSettled(calls.map((call) => store.apply([charge(call)])));
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect((await store.budget("all"))?.used.steps).toBe(2);
    expect((await store.head("all"))?.seq).toBe(2);
  });

  test("opens in a process with flags that threads do not take", async () => {
    await using folder = await temporaryFolder();
    const path = join(folder.path, "a.db");
    {
      await using store = await SqliteStore.open({ path });
      await store.apply([OPEN]);
    }
    const script = fileURLToPath(new URL("./children/open.mjs", import.meta.url));
    const errand = JSON.stringify({ address: { path }, call: "first" });
    const flags = ["--max-old-space-size=512", "--stack-trace-limit=50"];
    const { stdout } = await promisify(execFile)(process.execPath, [...flags, script, errand]);
    expect(JSON.parse(stdout)).toEqual({ done: true });
  });

  test("gives long journals and documents in pieces", async () => {
    await using folder = await temporaryFolder();
    await using store = await SqliteStore.open({ path: join(folder.path, "a.db") });
    const text = "x".repeat(1_500_000);
    const names = Array.from({ length: 10 }, (_, at) => `n${at}`);
    for (const name of names) {
      await store.apply([
        { op: "journal", run: "r", key: name, entry: { text } },
        { op: "put", kind: "session", id: name, budget: null, status: "open", body: { text }, version: 0 },
      ]);
    }
    const longest = await longestAnswer(store, async () => {
      const found: string[] = [];
      for await (const { key } of store.journal("r")) found.push(key);
      for await (const { id } of store.documents("session")) found.push(id);
      expect(found).toEqual([...names, ...names]);
    });
    expect(longest).toBeLessThan(8_000_000);
  });
});

/** How long the longest message of the store's thread is while something is done. */
async function longestAnswer(store: SqliteStore, work: () => Promise<void>): Promise<number> {
  const { worker } = (store as unknown as { thread: { worker: import("node:worker_threads").Worker } }).thread;
  let longest = 0;
  const listen = ({ replies }: { replies?: string }) => {
    longest = Math.max(longest, replies?.length ?? 0);
  };
  worker.on("message", listen);
  try {
    await work();
  } finally {
    worker.off("message", listen);
  }
  return longest;
}
