import { existsSync } from "node:fs";
import { type FileHandle, open, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { describe, expect, test, vi } from "vitest";
import type { Amount, Amounts } from "../../src/core/amount.js";
import type { Json } from "../../src/core/chain/canonical.js";
import { appendLink, emptyHead, type Head, parseLine } from "../../src/core/chain/link.js";
import type { Operation } from "../../src/core/operation.js";
import type { Store } from "../../src/ports/store.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import { deferred } from "../../src/runtime/deferred.js";
import { Holder } from "../../src/stores/lease/holder.js";
import { LeasingStore } from "../../src/stores/lease/leasing.js";
import { LeaseLog } from "../../src/stores/lease/log.js";
import { recoverLeases } from "../../src/stores/lease/recovery.js";
import type { Slice, SlicedCall } from "../../src/stores/lease/slice.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { temporaryFolder } from "./folder.js";

const TTL_MS = 30_000;

async function scene(steps: number) {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const grant = { kind: "limits", limits: { steps } as unknown as Amounts } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "tenant", scope: "shared", grant } }]);
  const terms = { budgets: ["tenant"], timer: clock, ttl_ms: TTL_MS, recall_ms: 1 };
  const open = (name: string, log?: string, inner: Store = store) =>
    LeasingStore.open({ ...terms, store: inner, name, ...(log === undefined ? {} : { log }) });
  const used = async () => (await store.budget("tenant"))?.used.steps ?? 0;
  return { clock, store, open, used };
}

function reserve(call: string) {
  return { op: "reserve", budget: "tenant", call, kind: "tool", asked: { steps: 1 } as unknown as Amounts } as const;
}

async function call(leasing: LeasingStore, id: string): Promise<boolean> {
  const [{ decision }] = await leasing.apply([reserve(id)]);
  if (decision.kind !== "admitted") return false;
  await leasing.apply([{ op: "commit", call: id, used: { steps: 1 as Amount } }]);
  return true;
}

describe("processes that are called alike", () => {
  test("never share a slice", async () => {
    const { clock, open, used } = await scene(200);
    const first = await open("worker");
    const second = await open("worker");
    for (let at = 0; at < 16; at++) await call(first, `first/${at}`);
    // A slice that lasted a while is followed by one of the same size, which the second one asks for then.
    clock.jump(TTL_MS / 8);
    await call(first, "first/16");
    for (let at = 0; at < 16; at++) await call(second, `second/${at}`);
    await first[Symbol.asyncDispose]();
    await second[Symbol.asyncDispose]();
    expect(await used()).toBe(33);
  });

  test("one that starts again begins a log of its own, and the first is settled", async () => {
    await using folder = await temporaryFolder();
    const { clock, store, open, used } = await scene(100);
    await open("worker", folder.path).then((first) => call(first, "before"));
    // It is killed here: its slice and its log stay behind.
    const second = await open("worker", folder.path);
    expect(await call(second, "after")).toBe(true);
    await second[Symbol.asyncDispose]();
    clock.jump(2 * TTL_MS);
    await recoverLeases(folder.path, store, clock, "nobody", () => false);
    expect(await used()).toBe(2);
  });

  test("one that has the number of a dead one is not taken for it", async () => {
    await using folder = await temporaryFolder();
    const { clock, store, open, used } = await scene(100);
    await open("worker", folder.path).then((first) => call(first, "before"));
    clock.jump(2 * TTL_MS);
    await recoverLeases(folder.path, store, clock, "nobody");
    expect(await used()).toBe(0);

    // As it is in a container that was started anew: the same number, and another process.
    const [name = ""] = await readdir(folder.path);
    await begunAt(`${folder.path}/${name}`, "1");
    await recoverLeases(folder.path, store, clock, "nobody");
    // Where the system does not tell when a process began, nothing is touched.
    expect(await used()).toBe(existsSync("/proc/self/stat") ? 1 : 0);
  });
});

/** The same log, of a process that began at another moment. */
async function begunAt(path: string, began: string): Promise<void> {
  const lines = (await readFile(path, "utf8")).trimEnd().split("\n").map(parseLine);
  let head: Head = emptyHead(lines[0]?.chain ?? "");
  let text = "";
  for (const { action_type, at, data, seq } of lines) {
    const notes = seq === 0 ? [[process.pid, hostname(), began]] : (data.notes as Json);
    const next = appendLink(head, { action_type, at, cause: null, data: { notes } }, sha256Hex);
    head = next.head;
    text += `${next.line}\n`;
  }
  await writeFile(path, text);
}

describe("a log whose disk is full", () => {
  test("is no proof any more: what was settled since is charged, whoever dies", async () => {
    await using folder = await temporaryFolder();
    const { clock, store, open, used } = await scene(100);
    const leasing = await open("worker", folder.path);
    await leasing.apply([reserve("noted"), reserve("other")]);
    using _ = await smallDisk(folder.path, () => true);
    await leasing.apply([{ op: "commit", call: "noted", used: { steps: 1 as Amount } }]);
    // Killed here.
    clock.jump(2 * TTL_MS);
    await recoverLeases(folder.path, store, clock, "nobody", () => false);
    await store.apply([{ op: "expire" }]);
    expect(await used()).toBeGreaterThanOrEqual(1);
  });

  test("does not acknowledge what neither it nor the store has", async () => {
    await using folder = await temporaryFolder();
    const { store, open, used } = await scene(100);
    let isAway = false;
    const inner = withApply(store, async (operations) => {
      if (isAway) throw new Error("away");
      return store.apply(operations);
    });
    const leasing = await open("worker", folder.path, inner);
    await leasing.apply([reserve("noted")]);
    using _ = await smallDisk(folder.path, () => true);
    isAway = true;
    const commit = { op: "commit", call: "noted", used: { steps: 1 as Amount } } as const;
    await expect(leasing.apply([commit])).rejects.toThrow("away");
    await expect(leasing.apply([commit])).rejects.toThrow("away");
    isAway = false;
    expect((await leasing.apply([commit]))[0]).toMatchObject({ charged: { steps: 1 } });
    expect(await used()).toBe(1);
  });

  test("is not begun anew, and what was begun is no burden", async () => {
    await using folder = await temporaryFolder();
    const { clock, store } = await scene(100);
    const path = `${folder.path}/a.jsonl`;
    const now = () => clock.now().instant;
    const log = await LeaseLog.open({ path, holder: "a", dimensions: store.dimensions, now, most_bytes: 1000 });
    using _ = await smallDisk(folder.path, () => existsSync(`${path}.next`));
    for (let at = 0; at < 20; at++) await log.write(["granted", `slice-${at}`, "tenant", 0, { steps: 1 }]);
    expect(log.isBroken).toBe(false);
    expect(await readdir(folder.path)).toEqual(["a.jsonl"]);
  });
});

describe("a slice that is replaced while its calls are under way", () => {
  test("proves a call once that was settled meanwhile", async () => {
    await using folder = await temporaryFolder();
    const { clock, store, used } = await scene(100);
    const path = `${folder.path}/a.jsonl`;
    const now = () => clock.now().instant;
    const log = await LeaseLog.open({ path, holder: "a", dimensions: store.dimensions, now });
    const holder = new Holder({ store, budget: "tenant", name: "a", clock, ttl_ms: TTL_MS, log });
    const asked = { steps: 10 } as unknown as Amounts;
    await holder.refill(asked, 1);
    const first = holder.sliceFor(asked) as Slice;
    const [x] = await Promise.all(["x", "y"].map((id) => begun(log, first, id, asked)));
    const yielded = holder.yieldAll();
    while (holder.find("x")?.slice === first) await null;
    const second = holder.find("x")?.slice as Slice;
    second.settle(x as SlicedCall, { steps: 4 } as unknown as Amounts);
    await log.write(["settled", second.call, "x", { steps: 4 }, {}]);
    await yielded;
    clock.jump(2 * TTL_MS);
    await recoverLeases(folder.path, store, clock, "nobody", () => false);
    expect(await used()).toBe(4 + 10);
  });

  test("takes along a call that waits for the disk", async () => {
    await using folder = await temporaryFolder();
    const { clock, store, open, used } = await scene(100);
    const leasing = await open("worker", folder.path);
    await leasing.apply([reserve("long")]);
    const disk = deferred<void>();
    using _ = await smallDisk(folder.path, () => false, disk.promise);
    const waits = leasing.apply([reserve("waits")]);
    // The slice runs out meanwhile, and is replaced by one that holds what its calls need.
    clock.advance((7 * TTL_MS) / 8);
    await turns();
    disk.resolve();
    expect((await waits)[0].decision.kind).toBe("admitted");
    for (const id of ["long", "waits"]) await leasing.apply([{ op: "commit", call: id, used: { steps: 1 as Amount } }]);
    await turns();
    expect((await store.budget("tenant"))?.reserved.steps).toBe(0);
    await leasing[Symbol.asyncDispose]();
    expect(await used()).toBe(2);
  });
});

async function begun(log: LeaseLog, slice: Slice, id: string, asked: Amounts): Promise<SlicedCall> {
  const call: SlicedCall = {
    id,
    kind: "model",
    asked,
    charged: null,
    reported: {},
    estimate: {},
    unreported: [],
  };
  slice.take(call);
  await log.write(["reserved", slice.call, id, call.kind, { ...asked }]);
  return call;
}

async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function withApply(store: Store, apply: (operations: readonly Operation[]) => Promise<unknown>): Store {
  return Object.assign(Object.create(store), { apply }) as Store;
}

/** Lets the disk be full whenever it should, and slow until it is told. */
async function smallDisk(folder: string, isFull: () => boolean, slow: Promise<void> = Promise.resolve()) {
  const probe = await open(`${folder}/probe`, "w");
  const kind = Object.getPrototypeOf(probe) as FileHandle;
  await probe.close();
  await rm(`${folder}/probe`);
  const append = kind.appendFile;
  const spy = vi.spyOn(kind, "appendFile").mockImplementation(async function (this: FileHandle, text) {
    await slow;
    if (isFull()) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    return append.call(this, text);
  });
  return { [Symbol.dispose]: () => spy.mockRestore() };
}
