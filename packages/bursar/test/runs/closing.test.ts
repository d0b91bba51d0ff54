import { expect, test } from "vitest";
import type { Amounts } from "../../src/core/amount.js";
import type { Operation } from "../../src/core/operation.js";
import type { GuestSession, Sandbox } from "../../src/ports/sandbox.js";
import type { Store } from "../../src/ports/store.js";
import { defineAgent } from "../../src/runs/agent.js";
import { claimOf } from "../../src/runs/claim.js";
import { Desk } from "../../src/runs/desk.js";
import { ClaimLostError } from "../../src/runs/error.js";
import { execHandler } from "../../src/runs/exec.js";
import { Holding } from "../../src/runs/holding.js";
import type { RunRecord } from "../../src/runs/record.js";
import { defineTool } from "../../src/runs/tool.js";
import { Worker } from "../../src/runs/worker.js";
import { Latch, settle, Theatre } from "./stage.js";

const amounts = (given: Record<string, number>) => given as Amounts;

/** A tool that answers when a test says so, and counts how often it was begun. */
function slowTool(name: string) {
  const state = { begun: 0, gate: new Latch() };
  const run = async () => {
    state.begun++;
    await state.gate.opened;
    return name;
  };
  return { state, tool: defineTool({ name, description: "Answers when it may.", input: {}, run }) };
}

/** A store whose transactions wait, where somebody says so. */
function slowly(store: Store, waits: (operations: readonly Operation[]) => Promise<void>): Store {
  const apply = async (operations: readonly Operation[]) => {
    await waits(operations);
    return store.apply(operations);
  };
  return Object.assign(Object.create(store), { apply }) as Store;
}

test("a worker that closes while it takes a run gives it back, and makes nothing of it", async () => {
  const { state, tool } = slowTool("held");
  const theatre = new Theatre([defineAgent("holder", (ctx) => ctx.tool("held"))], [tool]);
  await theatre.process().start("holder", null, { id: "run" });
  const disk = new Latch();
  const isClaim = (operations: readonly Operation[]) =>
    operations.some((each) => each.op === "record" && each.action.action_type === "RunClaimed");
  const store = slowly(theatre.store, async (operations) => {
    if (isClaim(operations)) await disk.opened;
  });
  const worker = new Worker({ bursar: theatre.process({ store }), timer: theatre.clock });
  worker.start();
  await settle();
  let isOver = false;
  const closing = worker.close({ within_ms: 5000 }).then(() => {
    isOver = true;
  });
  await settle();
  expect(isOver).toBe(false);
  disk.open();
  await theatre.until(closing);
  expect(await claimOf(theatre.store, "run")).toMatchObject({ worker: null });
  expect(state.begun).toBe(0);
});

test("a run whose child is let go waits for the call that it makes itself", async () => {
  const own = slowTool("own");
  const programs = [
    defineAgent("child", async (ctx) => ctx.sleep(1_000_000)),
    defineAgent("parent", async (ctx) => {
      const [answer] = await Promise.all([ctx.tool("own"), ctx.spawn("child", null)]);
      await ctx.tool("echo", { text: "after" });
      return answer;
    }),
  ];
  const theatre = new Theatre(programs, [own.tool]);
  const bursar = theatre.process();
  await bursar.start("parent", null, { id: "run", limits: { wall_clock_ms: null } });
  const worker = new Worker({ bursar, timer: theatre.clock });
  await worker.look();
  await settle(200);
  expect(own.state.begun).toBe(1);
  const closing = worker.close({ within_ms: 60_000 });
  await settle(200);
  own.state.gate.open();
  await theatre.until(closing);
  expect(await claimOf(theatre.store, "run")).toMatchObject({ worker: null });
  const next = theatre.process();
  const done = await theatre.until(next.resume("run"), 10_000);
  expect(done).toMatchObject({ status: "completed" });
  expect(own.state.begun).toBe(1);
});

test("whoever is told twice to close does not wait any longer", async () => {
  const { state, tool } = slowTool("held");
  const theatre = new Theatre([defineAgent("holder", (ctx) => ctx.tool("held"))], [tool]);
  const bursar = theatre.process();
  const work = bursar.run("holder", null, { id: "run" });
  work.catch(() => {});
  await settle();
  expect(state.begun).toBe(1);
  const closing = bursar.close({ within_ms: 60_000 });
  await settle();
  await bursar.close();
  await closing;
  expect(await claimOf(theatre.store, "run")).toMatchObject({ worker: null });
});

test("a program that waits for what others hold does not wait on when its run was let go of", async () => {
  const theatre = new Theatre([]);
  const { store, clock } = theatre;
  const opening = { id: "run", scope: "run", grant: { kind: "limits", limits: amounts({ fuel: 10 }) } } as const;
  await store.apply([{ op: "open", parent: null, opening }]);
  await store.apply([{ op: "reserve", budget: "run", call: "other", kind: "code", asked: amounts({ fuel: 10 }) }]);
  const desk = new Desk(store, clock, await claimOf(store, "run"), 30_000);
  const holding = new Holding(desk, clock, { id: "run", budget: "run" } as RunRecord);
  const taking = holding.take("fuel", { fuel: 0 }, { isOver: async () => false, alone: () => false });
  const refused = expect(taking).rejects.toThrow(ClaimLostError);
  await settle();
  await desk[Symbol.asyncDispose]();
  clock.advance(100);
  await refused;
});

test("what a program computes with is given back by anybody, if nobody ever takes up its run", async () => {
  const { store, clock } = new Theatre([]);
  const opening = { id: "team", scope: "shared", grant: { kind: "limits", limits: amounts({ fuel: 10 }) } } as const;
  await store.apply([{ op: "open", parent: null, opening }]);
  const desk = new Desk(store, clock, await claimOf(store, "run"), 30_000);
  const holding = new Holding(desk, clock, { id: "run", budget: "team" } as RunRecord);
  expect(await holding.take("fuel", { fuel: 0 }, { isOver: async () => false, alone: () => false })).toEqual({
    fuel: 10,
  });
  // Killed here. For as long as a program may compute at a time, nobody can tell.
  const reserved = async () => {
    await store.apply([{ op: "expire" }]);
    return (await store.budget("team"))?.reserved.fuel;
  };
  clock.advance(24 * 60 * 60_000);
  expect(await reserved()).toBe(10);
  clock.advance(2 * 60 * 60_000);
  expect(await reserved()).toBe(0);
});

test("code whose sandbox is ready when its run is over already is not executed", async () => {
  const ready = new Latch();
  const seen: string[] = [];
  const session = {
    begin: async () => void seen.push("begun"),
    cancel: async () => void seen.push("cancelled"),
    destroy: async () => void seen.push("destroyed"),
  } as unknown as GuestSession;
  const sandbox = async () => {
    await ready.opened;
    return { createSession: async () => session } as unknown as Sandbox;
  };
  const program = defineAgent("coder", (ctx) => ctx.exec("python", "while True: pass"));
  const theatre = new Theatre([program]);
  const bursar = theatre.process({ handlers: { exec: execHandler(sandbox) } });
  const work = bursar.run("coder", null, { id: "run", limits: { fuel: 100 } });
  work.catch(() => {});
  await settle();
  await bursar.close();
  ready.open();
  await settle();
  expect(seen).toEqual(["destroyed"]);
});
