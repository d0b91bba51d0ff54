import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { StoreError } from "bursar";
import { SqliteStore } from "bursar/sqlite";
import { afterAll, describe, expect, test } from "vitest";
import { openDatabase } from "../../src/stores/sqlite/driver.js";
import { type Fault, runChild, startChild } from "./child.js";
import { temporaryFolder } from "./folder.js";
import { BALLAST_BYTES, checkFull, onSmallDisk } from "./small-disk.js";

const folder = await temporaryFolder();
afterAll(() => folder[Symbol.asyncDispose]());
let files = 0;

/** Root may do everything. Without its capabilities it may do what the owner of a file may, and still enter this folder. */
const BOUND = process.getuid?.() === 0 ? { under: ["setpriv", "--bounding-set=-all", "--inh-caps=-all"] } : {};

function newPath(): string {
  return join(folder.path, `${files++}.db`);
}

async function charge(store: SqliteStore, call: string): Promise<void> {
  await store.apply([{ op: "charge", budget: "all", call, used: { steps: 1 } as never }]);
}

/** A file with one budget, that has been charged once. */
async function filled(path = newPath()): Promise<string> {
  await using store = await SqliteStore.open({ path });
  const grant = { kind: "limits", limits: {} } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "all", scope: "shared", grant } }]);
  await charge(store, "first");
  return path;
}

async function steps(path: string): Promise<number | undefined> {
  await using store = await SqliteStore.open({ path });
  return (await store.budget("all"))?.used.steps;
}

async function faultOf(work: Promise<unknown>): Promise<StoreError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  return error as StoreError;
}

/** What a process that is bound by modes is told when it opens and writes the file. */
async function boundFault(path: string): Promise<Fault | undefined> {
  const { lines } = await runChild("open.mjs", { address: { path }, call: "bound" }, BOUND);
  return lines[0]?.fault;
}

describe("opening a SQLite file", () => {
  test("that is none says so", async () => {
    const path = newPath();
    writeFileSync(path, "Dear diary, this is no database at all. ".repeat(100));
    const { code, message } = await faultOf(SqliteStore.open({ path }));
    expect([code, message]).toEqual(["store_damaged", expect.stringContaining("restore a backup")]);
  });

  test.for([
    ["Dear diary", "is a text"],
    ['{"lines": 1}', "is a file of JSON"],
    ["\u007fELF\0\u0001", "is a binary file of another kind"],
  ] as const)(
    "that is none says what it is, and sends nobody back to where he comes from: %j",
    async ([text, what]) => {
      const path = newPath();
      writeFileSync(path, text.padEnd(1000, text));
      const { message } = await faultOf(SqliteStore.open({ path }));
      expect(message).toContain(`${path} ${what}, and no SQLite file: name the file of a store with --store`);
      expect(message).not.toContain("store check");
      expect(readFileSync(path, "utf8")).toBe(text.padEnd(1000, text));
    },
  );

  test("of a newer Bursar changes nothing and says what to install", async () => {
    const path = await filled();
    const database = openDatabase(path);
    database.exec("INSERT INTO migrations (version, name, at) VALUES (999, 'of the future', 0)");
    const { code, message } = await faultOf(SqliteStore.open({ path }));
    expect([code, message]).toEqual(["store_schema", expect.stringMatching(/version 999.*install/)]);
    database.exec("DELETE FROM migrations WHERE version = 999");
    database.close();
    expect(await steps(path)).toBe(1);
  });

  test("where a folder is says so", async () => {
    const path = newPath();
    mkdirSync(path);
    const { code, message } = await faultOf(SqliteStore.open({ path }));
    expect([code, message]).toEqual(["store_missing", expect.stringContaining("check that its folder")]);
  });

  test("below a file says so", async () => {
    const { code, message } = await faultOf(SqliteStore.open({ path: join(await filled(), "below.db") }));
    expect([code, message]).toEqual(["store_denied", expect.stringContaining("choose another")]);
  });

  test("that may not be read says so, and it is all there when it may", async () => {
    const path = await filled();
    chmodSync(path, 0o000);
    const fault = await boundFault(path);
    expect(fault).toMatchObject({
      name: "StoreError",
      code: "store_denied",
      message: expect.stringContaining("chmod"),
    });
    chmodSync(path, 0o666);
    expect(await boundFault(path)).toBeUndefined();
    expect(await steps(path)).toBe(2);
  });

  test("that is read-only says what to make writable, and goes on when it is", async () => {
    const path = await filled();
    chmodSync(path, 0o444);
    expect(await boundFault(path)).toMatchObject({
      name: "StoreError",
      code: "store_readonly",
      message: expect.stringContaining("make the file and its folder writable"),
    });
    for (const beside of ["-wal", "-shm"]) rmSync(`${path}${beside}`, { force: true });
    chmodSync(path, 0o666);
    expect(await boundFault(path)).toBeUndefined();
    expect(await steps(path)).toBe(2);
  });

  test("in a folder that is read-only says what to make writable", async () => {
    const closed = join(folder.path, `closed-${files++}`);
    mkdirSync(closed);
    const path = await filled(join(closed, "store.db"));
    chmodSync(closed, 0o555);
    expect(await boundFault(path)).toMatchObject({
      name: "StoreError",
      message: expect.stringContaining("folder"),
    });
    chmodSync(closed, 0o777);
    expect(await boundFault(path)).toBeUndefined();
    expect(await steps(path)).toBe(2);
  });
});

describe("a SQLite store", () => {
  test("that others lock for too long says who to look for, and goes on afterwards", async () => {
    const path = await filled();
    await using store = await SqliteStore.open({ path, patience_ms: 100 });
    const other = openDatabase(path);
    other.exec("BEGIN IMMEDIATE");
    const { code, message } = await faultOf(charge(store, "second"));
    expect([code, message]).toEqual(["store_locked", expect.stringContaining("fuser")]);
    expect((await store.budget("all"))?.used.steps).toBe(1);
    other.exec("ROLLBACK");
    other.close();
    await charge(store, "second");
    expect((await store.budget("all"))?.used.steps).toBe(2);
  });

  test("that is closed says so", async () => {
    const store = await SqliteStore.open({ path: newPath() });
    await store[Symbol.asyncDispose]();
    expect((await faultOf(charge(store, "late"))).code).toBe("store_closed");
  });

  test("whose disk is full says so, loses nothing, and goes on when there is room", async () => {
    const place = join(folder.path, `disk-${files++}`);
    mkdirSync(place);
    const ballast = { file: join(place, "ballast"), bytes: BALLAST_BYTES };
    const under = onSmallDisk(place);
    if (under === null) {
      process.stderr.write("Disks cannot be mounted here, so the limit of a file's size stands for a full disk.\n");
      return fullByLimit();
    }
    const { lines } = await runChild("full.mjs", { address: { path: join(place, "store.db") }, ballast }, { under });
    checkFull(lines, "store_full");
  });

  test("whose files may not grow says so, loses nothing, and goes on when they may", fullByLimit);
});

/** Where a quota or a limit is reached, SQLite reports a failed write rather than a full disk. */
async function fullByLimit(): Promise<void> {
  const under = ["bash", "-c", 'ulimit -S -f 800; exec "$@"', "limited"];
  const path = newPath();
  const child = startChild("full.mjs", { address: { path } }, { under });
  while (!child.lines().some((line) => "faults" in line)) {
    await Promise.race([new Promise((resolve) => setTimeout(resolve, 20)), child.over]);
  }
  execFileSync("bash", ["-c", `prlimit --pid ${child.pid} --fsize=unlimited:`]);
  child.send("go");
  const { code, lines, stderr } = await child.over;
  expect(code, stderr).toBe(0);
  checkFull(lines, "store_failed");
  expect(statSync(path).size).toBeGreaterThan(0);
}
