import { getEventListeners } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { defineAgent, defineTool, Gate, MemoryStore, openBudget } from "../../src/index.js";
import { offAbort, onAbort } from "../../src/runtime/abort-listeners.js";
import { Theatre } from "../runs/stage.js";

const CALLS = 40;
const LIMITS = { steps: 2000, wall_clock_ms: 3_600_000, llm_tokens: 1_000_000, cost_usd: 100, subcalls: 100 };
const warnings: Error[] = [];
const note = (warning: Error) => void warnings.push(warning);

beforeEach(() => {
  warnings.length = 0;
  process.on("warning", note);
});

afterEach(() => {
  process.off("warning", note);
});

/** Warnings are told in a later turn. */
async function expectNoWarning(): Promise<void> {
  await turns();
  expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([]);
}

/** So many turns of the event loop that whatever needs no clock has come to rest. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
}

function listenersOf(signal: AbortSignal): number {
  return getEventListeners(signal, "abort").length;
}

test("many calls at once with one signal", async () => {
  const { signal } = new AbortController();
  const store = new MemoryStore();
  await using budget = await openBudget({ steps: 1000 }, { store });
  const gate = new Gate({ store });
  let most = 0;
  const call = { budget: budget.id, capability_id: "tool", kind: "tool", asked: { steps: 1 }, signal } as const;
  const effect = async () => {
    await turns();
    most = Math.max(most, listenersOf(signal));
    return { value: null, usage: { steps: 1 } };
  };
  const made = await Promise.all(Array.from({ length: CALLS }, () => gate.call(call, effect)));
  expect(made.every(({ kind }) => kind === "done")).toBe(true);
  expect(most).toBe(1);
  expect(listenersOf(signal)).toBe(0);
  await expectNoWarning();
});

test("many calls that wait for their turn with one signal, which gives all of them up", async () => {
  const hangingUp = new AbortController();
  const { signal } = hangingUp;
  const store = new MemoryStore();
  await using budget = await openBudget({ steps: 1 }, { store });
  const gate = new Gate({ store });
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const call = { budget: budget.id, capability_id: "tool", kind: "tool", asked: { steps: 1 } } as const;
  const first = gate.call(call, async () => {
    await held;
    return { value: null, usage: { steps: 1 } };
  });
  const waiting = Array.from({ length: CALLS }, () =>
    gate.call({ ...call, signal, wait_ms: 60_000 }, async () => ({ value: null, usage: {} })),
  );
  await turns();
  expect(listenersOf(signal)).toBe(1);
  hangingUp.abort(new Error("hung up"));
  const given = await Promise.allSettled(waiting);
  expect(given.every((each) => each.status === "rejected" || each.value.kind !== "done")).toBe(true);
  expect(listenersOf(signal)).toBe(0);
  release();
  expect((await first).kind).toBe("done");
  await expectNoWarning();
});

test("a run that asks for many things at once: tools, models, sleeps and children", async () => {
  const child = defineAgent("child", async (ctx) => ctx.tool("slow"));
  const parent = defineAgent("parent", async (ctx) => {
    const many = Array.from({ length: CALLS }, (_, number) => number);
    await Promise.all([
      ...many.map(() => ctx.tool("slow")),
      ...many.map(() => ctx.model({ prompt: "well?" })),
      ...many.map(() => ctx.sleep(50)),
      ...many.slice(0, 15).map(() => ctx.spawn("child", null, { limits: { steps: 10 } })),
    ]);
    return "done";
  });
  const slow = defineTool({
    name: "slow",
    description: "Takes a turn.",
    input: {},
    run: () => new Promise<string>((resolve) => setImmediate(() => resolve("done"))),
  });
  const theatre = new Theatre([parent, child], [slow]);
  const done = await theatre.until(theatre.process().run("parent", null, { limits: LIMITS }));
  expect(done).toMatchObject({ status: "completed" });
  await expectNoWarning();
});

test("each listener is told once and in order, also where one fails, and a signal that has fired keeps none", async () => {
  const told: string[] = [];
  const failures: unknown[] = [];
  const controller = new AbortController();
  const { signal } = controller;
  const gone = () => told.push("gone");
  onAbort(signal, () => told.push("a"));
  onAbort(signal, gone);
  onAbort(signal, () => {
    throw new Error("broken");
  });
  onAbort(signal, () => told.push("b"));
  offAbort(signal, gone);
  const known = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException");
  process.once("uncaughtException", (error) => failures.push(error));
  controller.abort();
  await turns();
  for (const each of known) process.on("uncaughtException", each);
  expect(told).toEqual(["a", "b"]);
  expect(failures).toMatchObject([{ message: "broken" }]);
  onAbort(signal, () => told.push("late"));
  expect([told.length, listenersOf(signal)]).toEqual([2, 0]);
});
