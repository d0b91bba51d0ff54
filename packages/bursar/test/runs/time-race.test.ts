import { expect, test } from "vitest";
import type { Operation } from "../../src/core/operation.js";
import type { Store } from "../../src/ports/store.js";
import { defineAgent } from "../../src/runs/agent.js";
import { defineTool } from "../../src/runs/tool.js";
import { StoreError } from "../../src/stores/durable/errors.js";
import { ANN, Latch, listOf, pausedOf, settle, Theatre } from "./stage.js";

/** The same store, with something done before or instead of one of its methods. */
function around(store: Store, methods: Partial<Record<keyof Store, unknown>>): Store {
  return new Proxy(store, {
    get: (target, name) => {
      const other = methods[name as keyof Store];
      if (other !== undefined) return other;
      const value = Reflect.get(target, name) as unknown;
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

const talker = defineAgent("talker", async (ctx) => {
  for (const text of ["a", "b", "c"]) await ctx.tool("echo", { text });
  return "said";
});

test("time that runs out between the admission of a call and its beginning ends the run Failed", async () => {
  const theatre = new Theatre([talker]);
  let calls = 0;
  const store = around(theatre.store, {
    apply: async (operations: readonly Operation[]) => {
      const outcomes = await theatre.store.apply(operations);
      const own = operations.some((each) => each.op === "reserve" && each.capability_id === "echo");
      // A store on a disk takes its time, and just here the last of it passes.
      if (own && ++calls === 2) theatre.clock.advance(5000);
      return outcomes;
    },
  });
  const work = theatre.process({ store }).run("talker", null, { id: "r", limits: { wall_clock_ms: 5000 } });
  const result = await theatre.until(work);
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "wall_clock_ms" } });
  expect(theatre.said).toEqual(["a"]);
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0 });
});

test("a store that is away for a moment when the time is looked up takes no time from a run", async () => {
  const gate = new Latch();
  const slow = defineTool({ name: "slow", description: "Waits.", input: {}, run: () => gate.opened });
  const waiter = defineAgent("waiter", async (ctx) => {
    await ctx.tool("slow");
    return "done";
  });
  const theatre = new Theatre([waiter], [slow]);
  let away = 0;
  const store = around(theatre.store, {
    path: async (id: string) => {
      if (away-- > 0) throw new StoreError("store_down", "the store is away");
      return theatre.store.path(id);
    },
  });
  const bursar = theatre.process({ store });
  const work = bursar.run("waiter", null, { id: "r", limits: { wall_clock_ms: 5000 } });
  await settle();
  theatre.clock.advance(4000);
  await bursar.extend("r", { wall_clock_ms: 60_000 }, { by: ANN });
  // Run and call look how much time there is, each for itself.
  away = 2;
  theatre.clock.advance(1500);
  await settle();
  gate.open();
  const result = await theatre.until(work);
  // There is a minute left, so it must neither fail nor stand still with nobody asked.
  expect(result).toMatchObject({ status: "completed", result: "done" });
});

test("parent and child that run out of the parent's time both stand still, and both go on", async () => {
  let begun = 0;
  const gate = new Latch();
  const slow = defineTool({
    name: "slow",
    description: "Waits.",
    input: {},
    run: () => {
      begun++;
      return gate.opened;
    },
  });
  const child = defineAgent("child", async (ctx) => ctx.tool("slow"));
  const parent = defineAgent("parent", async (ctx) => {
    await ctx.spawn("child", null, "share");
    return "both";
  });
  const theatre = new Theatre([parent, child], [slow]);
  const options = {
    id: "r",
    limits: { wall_clock_ms: 5000 },
    policies: { wall_clock_ms: "approval_required" },
  } as const;
  const work = theatre.process().run("parent", null, options);
  await settle();
  expect(begun).toBe(1);
  theatre.clock.advance(5000);
  pausedOf(await theatre.until(work));
  await settle(200);
  expect((await theatre.process().find("r.0")).status).toBe("paused");
  gate.open();
  for (const request of await listOf(theatre.process().approvals())) {
    await theatre.until(theatre.process().approve(request.id, { by: ANN, extensions: { wall_clock_ms: 60_000 } }));
  }
  expect(await theatre.until(theatre.process().resume("r"))).toMatchObject({ status: "completed", result: "both" });
});

/** Two calls answer at the same time, and so many turns later the time is over. Tells what was made, and what was heard of it first. */
async function together(turns: number, microtasks: number) {
  const gate = new Latch();
  const heard: unknown[] = [];
  let made = 0;
  const slow = defineTool({
    name: "slow",
    description: "Waits.",
    input: { type: "object", properties: { number: { type: "integer" } } },
    run: async ({ number }: { number: number }) => {
      made++;
      await gate.opened;
      return number;
    },
  });
  const both = defineAgent("both", async (ctx) => {
    const one = async (number: number) => heard.push(await ctx.tool("slow", { number }));
    await Promise.all([one(0), one(1)]);
    await ctx.sleep(8000);
    return heard.toSorted();
  });
  const theatre = new Theatre([both], [slow]);
  const policies = { wall_clock_ms: "approval_required" } as const;
  const work = theatre.process().run("both", null, { id: "r", limits: { wall_clock_ms: 5000 }, policies });
  await settle();
  gate.open();
  await settle(turns);
  for (let turn = 0; turn < microtasks; turn++) await Promise.resolve();
  theatre.clock.advance(5000);
  const { status } = await theatre.until(work);
  const before = heard.splice(0).length;
  if (status === "paused") {
    const extensions = { wall_clock_ms: 60_000 };
    await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN, extensions }));
  }
  return { made, before, result: (await theatre.process().find("r")).result };
}

test("an answer that comes together with the end of the time is told and kept, or neither", async () => {
  for (const turns of [0, 1, 2, 3]) {
    for (let microtasks = 0; microtasks < 40; microtasks++) {
      const { made, before, result } = await together(turns, microtasks);
      // Whatever the program had heard before the pause was not done again, and what it had not heard was.
      expect({ turns, microtasks, made, result }).toEqual({ turns, microtasks, made: 4 - before, result: [0, 1] });
    }
  }
});
