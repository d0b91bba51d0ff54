import { describe, expect, test } from "vitest";
import type { Amount } from "../../src/core/amount.js";
import { TENANT_CHAIN } from "../../src/core/keep.js";
import { Sweeper } from "../../src/runtime/sweeper.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

async function scene() {
  const clock = new FakeClock();
  const store = new MemoryStore({ clock });
  const grant = { kind: "limits", limits: { steps: 10_000 as Amount } } as const;
  await store.apply([{ op: "open", parent: null, opening: { id: "run", scope: "run", grant } }]);
  const hold = (call: string, kind: "model" | "tool", ms: number) => {
    const expires = clock.now().instant + ms;
    return store.apply([{ op: "reserve", budget: "run", call, kind, asked: { steps: 1 as Amount }, expires }]);
  };
  return { clock, store, hold };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}

describe("the sweeper", () => {
  test("settles dead holds by their kind, again and again, until it is disposed", async () => {
    const { clock, store, hold } = await scene();
    await hold("model", "model", 1000);
    await hold("tool", "tool", 1000);
    const sweeper = new Sweeper({ store, timer: clock, every_ms: 500 });
    sweeper.start();
    sweeper.start();
    for (let turn = 0; turn < 3; turn++) {
      clock.advance(500);
      await settled();
    }
    expect((await store.budget("run"))?.used.steps).toBe(1);
    expect((await store.budget("run"))?.reserved.steps).toBe(0);
    sweeper[Symbol.dispose]();
    await hold("late", "model", 0);
    clock.advance(5000);
    await settled();
    expect((await store.budget("run"))?.reserved.steps).toBe(1);
  });

  test("any number of sweepers settle each hold once, however many there are", async () => {
    const { clock, store, hold } = await scene();
    for (let call = 0; call < 2500; call++) await hold(`call-${call}`, "model", 10);
    clock.advance(10);
    const rounds = await Promise.all(Array.from({ length: 4 }, () => new Sweeper({ store }).sweep()));
    expect(rounds.reduce((sum, { expired }) => sum + expired, 0)).toBe(2500);
    expect((await store.budget("run"))?.used.steps).toBe(2500);
  });

  test("anchors what has grown, once", async () => {
    const { store } = await scene();
    const sweeper = new Sweeper({ store });
    expect((await sweeper.sweep()).anchored).toBe(1);
    expect((await sweeper.sweep()).anchored).toBe(0);
    await store.apply([{ op: "end", budget: "run" }]);
    expect((await sweeper.sweep()).anchored).toBe(1);
    expect((await store.head(TENANT_CHAIN))?.seq).toBe(1);
  });

  test("goes on when the store was away, and says so", async () => {
    const { clock, store, hold } = await scene();
    const told: unknown[] = [];
    const { apply } = store;
    store.apply = (() => Promise.reject(new Error("away"))) as never;
    using sweeper = new Sweeper({ store, timer: clock, every_ms: 500, failed: (error) => told.push(error) });
    sweeper.start();
    clock.advance(0);
    await settled();
    store.apply = apply;
    await hold("model", "model", 100);
    clock.advance(500);
    await settled();
    expect(told).toHaveLength(1);
    expect((await store.budget("run"))?.used.steps).toBe(1);
  });

  test("names what it does not know", () => {
    expect(() => new Sweeper({ store: new MemoryStore(), evry_ms: 5 } as never)).toThrow(/evry_ms/);
    expect(() => new Sweeper({} as never)).toThrow(/store/);
  });
});
