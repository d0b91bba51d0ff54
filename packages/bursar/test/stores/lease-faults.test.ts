import { readdir } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import type { Amount, Amounts } from "../../src/core/amount.js";
import type { Operation } from "../../src/core/operation.js";
import type { Store } from "../../src/ports/store.js";
import { Gate } from "../../src/runtime/gate.js";
import { LeasingStore } from "../../src/stores/lease/leasing.js";
import { LeaseLog } from "../../src/stores/lease/log.js";
import { recoverLeases } from "../../src/stores/lease/recovery.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { temporaryFolder } from "./folder.js";

const TTL_MS = 30_000;

async function scene(limits: Record<string, number> = { steps: 1000 }) {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const grant = { kind: "limits", limits: limits as Amounts } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "tenant", scope: "shared", grant } }]);
  const open = (name: string, inner: Store = store, log?: string) =>
    LeasingStore.open({
      store: inner,
      budgets: ["tenant"],
      name,
      timer: clock,
      ttl_ms: TTL_MS,
      ...(log === undefined ? {} : { log }),
    });
  const steps = async () => (await store.budget("tenant"))?.used.steps ?? 0;
  return { clock, store, open, steps };
}

function reserve(call: string, asked: Record<string, number> = { steps: 1 }) {
  return { op: "reserve", budget: "tenant", call, kind: "tool", asked: asked as Amounts } as const;
}

function logIn(folder: string, { dimensions }: Store, clock: FakeClock, most_bytes?: number): Promise<LeaseLog> {
  const path = `${folder}/dead.jsonl`;
  const bound = most_bytes === undefined ? {} : { most_bytes };
  return LeaseLog.open({ path, holder: "dead", dimensions, now: () => clock.now().instant, ...bound });
}

/** A store that fails when it is told to. */
function failing(store: Store, fails: (operations: readonly Operation[]) => Error | null, after = false): Store {
  const apply = async (operations: readonly Operation[]) => {
    const error = fails(operations);
    if (error !== null && !after) throw error;
    const outcomes = await store.apply(operations);
    if (error !== null) throw error;
    return outcomes;
  };
  return Object.assign(Object.create(store), { apply }) as Store;
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("faults of leases that were found and closed", () => {
  test("who waits in line gets his own answer, and nobody waits for ever", async () => {
    const { store, open } = await scene({ steps: 5 });
    await store.apply([reserve("old", { steps: 5 }), { op: "commit", call: "old", used: { steps: 5 as Amount } }]);
    await using leasing = await open("a");
    const [first, second] = await Promise.allSettled([
      leasing.apply([reserve("old", { steps: 5 })]),
      leasing.apply([reserve("new")]),
    ]);
    expect(first.status).toBe("rejected");
    expect(second.status === "fulfilled" && second.value[0].decision.kind).toBe("stopped");
  });

  test("a call that takes longer than a lease is alive, and exhausts nothing that it does not use", async () => {
    const { clock, store, open, steps } = await scene({ steps: 40 });
    await using leasing = await open("a");
    await leasing.apply([reserve("long")]);
    for (let tick = 0; tick < 20; tick++) {
      clock.advance(TTL_MS / 8);
      await settled();
      await store.apply([{ op: "expire" }]);
    }
    await leasing.apply([{ op: "commit", call: "long", used: { steps: 1 as Amount } }]);
    await settled();
    expect(await steps()).toBe(1);
    expect((await leasing.apply([reserve("next")]))[0].decision.kind).toBe("admitted");
  });

  test("an answer that was lost costs nothing", async () => {
    const { clock, store, open, steps } = await scene();
    let lost = 3;
    const isLease = (operations: readonly Operation[]) => operations.some(({ op }) => op === "put");
    const deaf = failing(store, (operations) => (isLease(operations) && lost-- > 0 ? new Error("lost") : null), true);
    const leasing = await open("a", deaf);
    await expect(leasing.apply([reserve("lost")])).rejects.toThrow("lost");
    await leasing.apply([reserve("again")]).catch(() => {});
    await leasing.apply([{ op: "release", call: "again" }]).catch(() => {});
    await leasing.apply([reserve("x")]);
    await leasing.apply([{ op: "commit", call: "x", used: { steps: 1 as Amount } }]);
    await leasing[Symbol.asyncDispose]();
    clock.jump(TTL_MS * 2);
    await store.apply([{ op: "expire" }]);
    expect(await steps()).toBe(1);
  });

  test("what the store did not hear is told again", async () => {
    const { clock, store, open, steps } = await scene();
    let away = false;
    await using leasing = await open(
      "a",
      failing(store, () => (away ? new Error("away") : null)),
    );
    await leasing.apply([reserve("x")]);
    away = true;
    await leasing.apply([{ op: "commit", call: "x", used: { steps: 1 as Amount } }]);
    for (let tick = 0; tick < 8; tick++) {
      clock.advance(TTL_MS / 8);
      await settled();
    }
    away = false;
    clock.advance(TTL_MS / 8);
    await settled();
    expect(await steps()).toBe(1);
    expect((await store.budget("tenant"))?.reserved.steps).toBe(0);
  });

  test("a closed one leases nothing, and who waited is told", async () => {
    const { store, open } = await scene({ steps: 1 });
    await store.apply([reserve("in-flight")]);
    const slow = failing(store, () => null);
    const { apply } = slow;
    slow.apply = (async (operations: never) => {
      await new Promise((resolve) => setTimeout(resolve, 20));
      return apply(operations);
    }) as never;
    const leasing = await open("a", slow);
    const waiting = leasing.apply([reserve("waits")]).catch((error: { code: string }) => error.code);
    await settled();
    await leasing[Symbol.asyncDispose]();
    expect(await waiting).toBe("store_closed");
    await expect(leasing.apply([reserve("late")])).rejects.toMatchObject({ code: "store_closed" });
    expect((await store.budget("tenant"))?.reserved.steps).toBe(1);
  });

  test("the same id at the same time is one call, and stays so when its slice went back", async () => {
    const { open, steps } = await scene();
    const leasing = await open("a");
    const twice = await Promise.all([leasing.apply([reserve("x")]), leasing.apply([reserve("x")])]);
    expect(twice.map(([{ repeated }]) => repeated).sort()).toEqual([false, true]);
    const commit = { op: "commit", call: "x", used: { steps: 1 as Amount } } as const;
    await leasing.apply([commit]);
    expect((await leasing.apply([commit]))[0].repeated).toBe(true);
    await expect(leasing.apply([reserve("x")])).rejects.toThrow(/needs an id of its own/);
    await leasing[Symbol.asyncDispose]();
    expect(await steps()).toBe(1);
  });

  test("a list that fails holds nothing", async () => {
    const { open, store } = await scene();
    const leasing = await open("a");
    await expect(leasing.apply([reserve("a"), { ...reserve("b"), asked: { steps: -1 as Amount } }])).rejects.toThrow();
    await leasing[Symbol.asyncDispose]();
    expect((await store.budget("tenant"))?.used.steps ?? 0).toBe(0);
  });

  test("of peaks the highest is proved, not the sum", async () => {
    await using folder = await temporaryFolder();
    const { clock, store } = await scene({ steps: 100, memory_peak_bytes: 1000 });
    const asked = { steps: 5 as Amount };
    await store.apply([{ op: "reserve", budget: "tenant", call: "slice", kind: "lease", asked }]);
    const log = await logIn(folder.path, store, clock);
    await log.write(["granted", "slice", "tenant", clock.now().instant, asked]);
    for (let at = 0; at < 5; at++) {
      await log.write(["reserved", "slice", `call-${at}`, "code", { steps: 1 }]);
      await log.write(["settled", "slice", `call-${at}`, { steps: 1, memory_peak_bytes: 100 }]);
    }
    await log.close();
    clock.jump(1);
    // Its writer is this very process, which is alive: so nothing happens yet.
    await recoverLeases(folder.path, store, clock, "other");
    expect(await readdir(folder.path)).toEqual(["dead.jsonl"]);
    await recoverLeases(folder.path, store, clock, "other", () => false);
    const { steps, memory_peak_bytes } = (await store.budget("tenant"))?.used ?? {};
    expect([steps, memory_peak_bytes]).toEqual([5, 100]);
  });

  test("wrong options are named", async () => {
    const { store } = await scene();
    const options = { store, budgets: ["tenant"] };
    await expect(LeasingStore.open({ ...options, lgo: "x" } as never)).rejects.toThrow(/lgo/);
    await expect(LeasingStore.open({ ...options, ttl_ms: -1 })).rejects.toThrow(/ttl_ms/);
    await expect(LeasingStore.open({ ...options, budgets: "tenant" } as never)).rejects.toThrow(/budgets/);
    await expect(LeasingStore.open({ ...options, name: "a/b" })).rejects.toThrow(/name/);
  });
});

test("a gate sets expiries by the clock of its store", async () => {
  const clock = new FakeClock({ instant: Date.UTC(2040, 0, 1) });
  const store = new MemoryStore({ clock });
  using gate = new Gate({ store });
  await gate.open("run", { limits: { steps: 5, wall_clock_ms: null } });
  const result = await gate.call({ budget: "run", capability_id: "tool" }, async () => {
    const [{ calls }] = await store.apply([{ op: "expire" }]);
    return { value: calls.length };
  });
  expect(result.kind === "done" && result.value).toBe(0);
});
