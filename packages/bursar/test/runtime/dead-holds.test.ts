import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import * as built from "bursar";
import { afterEach, expect, test } from "vitest";
import type { JsonObject } from "../../src/core/chain/canonical.js";
import { readAmounts } from "../../src/core/input.js";
import type { Store } from "../../src/ports/store.js";
import { HoldWatch } from "../../src/runtime/dead-holds.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { Latch, settle } from "../runs/stage.js";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A store as one of several processes sees it. */
function processOn(store: MemoryStore): Store {
  return new Proxy(store, {
    get(target, name) {
      if (name === "outlivesProcess") return true;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

async function scene() {
  const clock = new FakeClock();
  const memory = new MemoryStore({ clock });
  await new Gate({ store: memory, timer: clock }).open("b", {
    limits: { cost_usd: 10, steps: 100, wall_clock_ms: null },
  });
  return { clock, memory };
}

/** A hold of a process on another machine, and how that says that it is alive. */
function elsewhere(memory: MemoryStore, holder: string) {
  let version = 0;
  return {
    hold: (call: string, kind: "model" | "tool") => {
      const asked = readAmounts({ cost_usd: 1, steps: 1 });
      return memory.apply([{ op: "reserve", budget: "b", call, kind, asked, holder, capability_id: "x" }]);
    },
    beat: async (at: number) => {
      const body: JsonObject = { host: "far", pid: 7, machine: "another", started: "1", beats: version + 1, at };
      await memory.apply([
        {
          op: "put",
          kind: "lease",
          id: `process:${holder}`,
          budget: null,
          status: "process",
          body,
          version: version++,
        },
      ]);
    },
  };
}

async function pass(clock: FakeClock, watch: HoldWatch, ms: number, each?: () => Promise<void>) {
  for (let passed = 0; passed < ms; passed += 5000) {
    clock.advance(5000);
    await each?.();
    await watch.settleDead();
  }
}

test("what a process elsewhere holds is settled within a minute of its last word: model calls are charged, others are not", async () => {
  const { clock, memory } = await scene();
  const watch = new HoldWatch(memory);
  const dead = elsewhere(memory, "d");
  await dead.beat(clock.now().instant);
  await dead.hold("asked", "model");
  await dead.hold("used", "tool");
  await pass(clock, watch, 25_000);
  expect((await memory.budget("b"))?.reserved.cost_usd).toBe(2_000_000_000);
  await pass(clock, watch, 30_000);
  expect(await memory.budget("b")).toMatchObject({
    reserved: { cost_usd: 0 },
    used: { cost_usd: 1_000_000_000, steps: 1 },
  });
});

test.each([0, 7_200_000, -7_200_000])(
  "a call of a living process keeps its hold for hours, however its clock goes (%i ms)",
  async (skew) => {
    const { clock, memory } = await scene();
    const watch = new HoldWatch(memory);
    const living = elsewhere(memory, "l");
    await living.beat(clock.now().instant + skew);
    await living.hold("long", "model");
    await pass(clock, watch, 600_000, () => living.beat(clock.now().instant + skew));
    expect((await memory.budget("b"))?.reserved.cost_usd).toBe(1_000_000_000);
  },
);

test("a process that was idle for long and begins a call is not taken for dead", async () => {
  const { clock, memory } = await scene();
  const watch = new HoldWatch(memory);
  const idle = elsewhere(memory, "i");
  await idle.beat(clock.now().instant);
  await pass(clock, watch, 300_000);
  await idle.hold("first", "model");
  await pass(clock, watch, 20_000);
  await idle.beat(clock.now().instant);
  await pass(clock, watch, 25_000);
  expect((await memory.budget("b"))?.reserved.cost_usd).toBe(1_000_000_000);
});

test("a gate on a store that others share names its process, and says that it is alive while calls are under way", async () => {
  const { clock, memory } = await scene();
  const store = processOn(memory);
  using gate = new Gate({ store, timer: clock });
  const latch = new Latch();
  const call = gate.call({ budget: "b", capability_id: "llm", kind: "model", asked: { cost_usd: 1 } }, async () => {
    await latch.opened;
    return { value: 1, usage: { cost_usd: 0.5 } };
  });
  await settle();
  const beats = async () => {
    for await (const { id, body } of memory.documents("lease")) if (id.startsWith("process:")) return body.beats;
    return 0;
  };
  expect(await beats()).toBe(1);
  for (let turn = 0; turn < 12; turn++) {
    clock.advance(5000);
    await settle();
  }
  expect(await beats()).toBe(13);
  // Another process looks on, and leaves it alone.
  const other = new HoldWatch(processOn(memory));
  await pass(clock, other, 120_000, () => settle());
  latch.open();
  await expect(call).resolves.toMatchObject({ kind: "done" });
  expect(await memory.budget("b")).toMatchObject({ reserved: { cost_usd: 0 }, used: { cost_usd: 500_000_000 } });
  const last = Number(await beats());
  for (let turn = 0; turn < 5; turn++) {
    clock.advance(5000);
    await settle();
  }
  expect(Number(await beats())).toBeLessThanOrEqual(last + 1);
});

test("what a process of this machine held that was killed is settled at the first look", async () => {
  const folder = mkdtempSync(join(tmpdir(), "bursar-holds-"));
  folders.push(folder);
  const url = `sqlite:${join(folder, "store.db")}`;
  await using store = await built.openStore(url);
  await new built.Gate({ store }).open("b", { limits: { cost_usd: 10, steps: 100 } });
  const index = import.meta.resolve("bursar");
  const script = `
    import { Gate, openStore } from ${JSON.stringify(index)};
    const gate = new Gate({ store: await openStore(${JSON.stringify(url)}) });
    const call = { budget: "b", capability_id: "llm", kind: "model", asked: { cost_usd: 1 } };
    void gate.call(call, () => { console.log("held"); return new Promise((resolve) => setTimeout(resolve, 1e6)); });
  `;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  await once(child.stdout, "data");
  // It writes down who it is beside its first call.
  for (let known = false; !known; ) {
    for await (const { id } of store.documents("lease")) known ||= id.startsWith("process:");
  }
  const sweeper = new built.Sweeper({ store });
  expect((await sweeper.sweep()).expired).toBe(0);
  expect(await built.holdWatchFor(store)?.look()).toMatchObject([{ state: "alive", known: { pid: child.pid } }]);
  const gone = once(child, "exit");
  child.kill("SIGKILL");
  await gone;
  expect(await built.holdWatchFor(store)?.settleDead()).toHaveLength(1);
  expect(await store.budget("b")).toMatchObject({ reserved: { cost_usd: 0 }, used: { cost_usd: 1_000_000_000 } });
});
