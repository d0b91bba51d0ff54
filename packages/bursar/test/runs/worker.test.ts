import { expect, test } from "vitest";
import type { Program } from "../../src/ports/program.js";
import { defineAgent } from "../../src/runs/agent.js";
import { claimId, readClaim } from "../../src/runs/claim.js";
import { Desk } from "../../src/runs/desk.js";
import { ClaimLostError } from "../../src/runs/error.js";
import { defineTool, type Tool } from "../../src/runs/tool.js";
import { Worker } from "../../src/runs/worker.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { ANN, Latch, listOf, settle, Theatre } from "./stage.js";

const talker = defineAgent("talker", async (ctx, { words }: { words: string[] }) => {
  for (const text of words) await ctx.tool("echo", { text });
  return words.length;
});

const words = (text: string) => ({ words: text.split("") });

/** A tool that answers when a test says so, and counts how often it was begun. */
function held() {
  const state = { begun: 0, gate: new Latch() };
  const tool = defineTool({
    name: "held",
    description: "Answers when it may.",
    input: {},
    run: async () => {
      state.begun++;
      await state.gate.opened;
      return "held";
    },
  });
  const program = defineAgent("holder", async (ctx) => {
    await ctx.tool("echo", { text: "before" });
    const answer = await ctx.tool("held");
    await ctx.tool("echo", { text: "after" });
    return answer;
  });
  return { state, tool, program };
}

/** Lets time pass until something is so. */
async function wait(theatre: Theatre, until: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 1000; turn++) {
    await settle(10);
    if (await until()) return;
    theatre.clock.advance(100);
  }
  throw new Error("it never came about");
}

const statusOf = async (theatre: Theatre, id: string) => (await theatre.process().find(id)).status;

test("takes queued runs, in the background and one after the other", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  for (const id of ["a", "b", "c"]) await bursar.start("talker", words(id), { id });
  await using worker = new Worker({ bursar, timer: theatre.clock });
  worker.start();
  await wait(theatre, async () => (await listOf(theatre.store.documents("run", "completed"))).length === 3);
  expect(theatre.said.toSorted()).toEqual(["a", "b", "c"]);
  // It goes on looking.
  await bursar.start("talker", words("d"), { id: "d" });
  await wait(theatre, async () => (await statusOf(theatre, "d")) === "completed");
});

test("drives no more runs at a time than it may", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program], [tool]);
  const bursar = theatre.process();
  for (const id of ["a", "b", "c", "d", "e"]) await bursar.start("holder", null, { id });
  await using worker = new Worker({ bursar, most: 2, timer: theatre.clock });
  worker.start();
  for (let turn = 0; turn < 10; turn++) {
    await settle(20);
    theatre.clock.advance(500);
    expect(worker.runs.length).toBeLessThanOrEqual(2);
  }
  expect(state.begun).toBe(2);
  state.gate.open();
  await wait(theatre, async () => (await listOf(theatre.store.documents("run", "completed"))).length === 5);
});

test("fills a slot as soon as it is free, and is told of new runs: no time passes", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  const ids = Array.from({ length: 20 }, (_, number) => `r${number}`);
  for (const id of ids) await bursar.start("talker", words("a"), { id });
  await using worker = new Worker({ bursar, most: 2, timer: theatre.clock });
  worker.start();
  const completed = async () => (await theatre.store.counts("run")).completed ?? 0;
  for (let turn = 0; turn < 100 && (await completed()) < ids.length; turn++) await settle();
  expect(await completed()).toBe(ids.length);
  // Another process starts one more, while the worker has nothing to do.
  await theatre.process().start("talker", words("b"), { id: "later" });
  await settle(200);
  expect(await statusOf(theatre, "later")).toBe("completed");
  expect(theatre.clock.now().instant).toBe(new FakeClock().now().instant);
});

test("takes the oldest run first, whatever it is called, also when one was queued again", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program, talker], [tool]);
  const bursar = theatre.process();
  for (const id of ["z", "m", "a", "k"]) await bursar.start("talker", words(id), { id });
  await using worker = new Worker({ bursar, most: 1, timer: theatre.clock });
  worker.start();
  await settle(500);
  expect(theatre.said).toEqual(["z", "m", "a", "k"]);
  // Approved while younger ones wait: it was started before them.
  theatre.said.length = 0;
  const paused = { id: "0", limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
  await bursar.start("talker", words("pq"), paused);
  await settle(500);
  await bursar.start("holder", null, { id: "1" });
  await settle(500);
  await bursar.start("talker", words("y"), { id: "2" });
  await bursar.decide("0/checkpoint", "approve", { by: ANN, extensions: { steps: 10 } });
  state.gate.open();
  await settle(500);
  expect(theatre.said).toEqual(["p", "before", "after", "q", "y"]);
});

test("reads no more queued runs than it has slots for", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program], [tool]);
  const starter = theatre.process();
  for (let number = 0; number < 300; number++) await starter.start("holder", null, { id: `r${number}` });
  const read: string[] = [];
  const store = new Proxy(theatre.store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      if (name !== "oldest" && name !== "documents" && name !== "latest") return value.bind(target);
      return async function* (...args: unknown[]) {
        for await (const document of Reflect.apply(value, target, args)) {
          if (document.kind === "run") read.push(document.id);
          yield document;
        }
      };
    },
  });
  await using worker = new Worker({ bursar: theatre.process({ store }), most: 3, timer: theatre.clock });
  worker.start();
  await settle(200);
  expect(state.begun).toBe(3);
  expect(read).toHaveLength(3);
  state.gate.open();
  await settle(3000);
  expect(worker.runs).toEqual([]);
  // Each once, and now and then one that another slot had taken a moment before.
  expect(read.length).toBeLessThan(400);
});

test("runs that it cannot take stand in nobody's way, however many they are", async () => {
  const other = defineAgent("other", async () => "elsewhere");
  const theatre = new Theatre([talker]);
  const starter = theatre.process({ programs: [talker, other] });
  for (let number = 0; number < 250; number++) await starter.start("other", null, { id: `r${number}` });
  for (const id of ["a", "b", "c"]) await starter.start("talker", words(id), { id });
  await using worker = new Worker({ bursar: theatre.process(), most: 2, timer: theatre.clock });
  worker.start();
  await settle(2000);
  expect(theatre.said).toEqual(["a", "b", "c"]);
  await starter.start("talker", words("d"), { id: "d" });
  await settle(2000);
  expect(theatre.said).toEqual(["a", "b", "c", "d"]);
  expect((await theatre.store.counts("run")).queued).toBe(250);
});

test("of many runs that it cannot take only some are tried again in a round, each of them in turn", async () => {
  const other = defineAgent("other", async () => "elsewhere");
  const theatre = new Theatre([talker]);
  const starter = theatre.process({ programs: [talker, other] });
  for (let number = 0; number < 350; number++) await starter.start("other", null, { id: `r${number}` });
  const tried: string[] = [];
  const failed = (_: unknown, run: string | null) => void tried.push(run ?? "");
  await using worker = new Worker({ bursar: theatre.process(), timer: theatre.clock, failed });
  worker.start();
  await settle(2000);
  expect(new Set(tried).size).toBe(350);
  for (let round = 0; round < 4; round++) {
    tried.length = 0;
    theatre.clock.advance(1000);
    await settle(500);
    expect(tried.length).toBeLessThanOrEqual(120);
  }
  // One that others may take is taken at once all the same, and one that was allowed here is tried at once.
  await starter.start("talker", words("z"), { id: "z" });
  await settle(500);
  expect(theatre.said).toEqual(["z"]);
  const all = new Set<string>();
  for (let round = 0; round < 4; round++) {
    theatre.clock.advance(1000);
    tried.length = 0;
    await settle(500);
    for (const id of tried) all.add(id);
  }
  expect(all.size).toBe(350);
});

test("a run whose worker is gone is taken although more are queued than there are slots", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program, talker], [tool]);
  const dead = theatre.process({ timer: new FakeClock(), claim_ms: 5000 });
  dead.run("holder", null, { id: "r" }).catch(() => {});
  await settle();
  theatre.clock.advance(5000);
  const bursar = theatre.process();
  for (let number = 0; number < 50; number++) await bursar.start("talker", words("x"), { id: `q${number}` });
  state.gate.open();
  await using worker = new Worker({ bursar, most: 1, timer: theatre.clock });
  worker.start();
  await settle(300);
  expect(theatre.said.slice(0, 2)).toEqual(["before", "after"]);
});

test("drain drives all there is, and what that leaves queued, and ends", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  for (let number = 0; number < 30; number++) await bursar.start("talker", words("x"), { id: `r${number}` });
  await theatre.process({ programs: [talker, defineAgent("other", async () => 1)] }).start("other", null, { id: "o" });
  await using worker = new Worker({ bursar, most: 4, timer: theatre.clock });
  await theatre.until(worker.drain());
  expect(await theatre.store.counts("run")).toEqual({ completed: 30, queued: 1 });
});

test("leaves runs alone that stand still, and takes them when they may go on", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  const options = { id: "r", limits: { steps: 1 }, policies: { steps: "approval_required" } } as const;
  await bursar.start("talker", words("ab"), options);
  await using worker = new Worker({ bursar, timer: theatre.clock });
  worker.start();
  await wait(theatre, async () => (await statusOf(theatre, "r")) === "paused");
  for (let turn = 0; turn < 5; turn++) {
    theatre.clock.advance(1000);
    await settle(20);
  }
  expect(worker.runs).toEqual([]);
  expect(await theatre.until(theatre.process().approve("r/checkpoint", { by: ANN }))).toMatchObject({
    status: "completed",
  });
  expect(theatre.said).toEqual(["a", "b"]);
});

test("a run that has ended or paused since its status was read is not claimed", async () => {
  const theatre = new Theatre([talker]);
  const bursar = theatre.process();
  await bursar.run("talker", words("a"), { id: "done" });
  const policies = { steps: "approval_required" } as const;
  await bursar.run("talker", words("abc"), { id: "asks", limits: { steps: 1 }, policies });
  for (const [id, status] of [
    ["done", "completed"],
    ["asks", "paused"],
  ] as const) {
    const run = await bursar.find(id);
    expect(run.status).toBe(status);
    expect(await bursar.claim(run)).toBe(false);
    expect((await theatre.store.budget(id))?.watch.since).toBe(null);
  }
});

test("each run has one worker at a time, however many there are", async () => {
  const theatre = new Theatre([talker]);
  const starter = theatre.process();
  const ids = Array.from({ length: 12 }, (_, number) => `r${number}`);
  for (const id of ids) await starter.start("talker", words("xy"), { id });
  const workers = [1, 2, 3].map(() => new Worker({ bursar: theatre.process(), timer: theatre.clock }));
  for (const worker of workers) worker.start();
  await wait(theatre, async () => (await listOf(theatre.store.documents("run", "completed"))).length === ids.length);
  for (const worker of workers) await worker[Symbol.asyncDispose]();
  expect(theatre.said).toHaveLength(2 * ids.length);
  for (const id of ids) {
    const claimed = (await theatre.events(id)).filter((event) => event === "RunClaimed");
    expect(claimed).toHaveLength(1);
  }
});

test("picks up a dead worker's run after its claim has run out, and not before", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program], [tool]);
  // Its clock stands still: it neither renews its claim nor does anything else.
  const dead = theatre.process({ timer: new FakeClock(), claim_ms: 5000 });
  const gone = dead.run("holder", null, { id: "r" });
  gone.catch(() => {});
  await settle();
  expect(state.begun).toBe(1);
  await using worker = new Worker({ bursar: theatre.process(), timer: theatre.clock });
  theatre.clock.advance(4999);
  expect(await worker.look()).toBe(0);
  theatre.clock.advance(1);
  expect(await worker.look()).toBe(1);
  await settle();
  expect(state.begun).toBe(2);
  state.gate.open();
  await wait(theatre, async () => (await statusOf(theatre, "r")) === "completed");
  expect(theatre.said).toEqual(["before", "after"]);
});

test("a worker that comes back to life writes nothing any more", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program], [tool]);
  const dead = theatre.process({ timer: new FakeClock(), claim_ms: 5000, worker: "dead" });
  const gone = dead.run("holder", null, { id: "r" });
  gone.catch(() => {});
  await settle();
  const claim = readClaim("r", await theatre.store.document("lease", claimId("r")));
  expect(claim.worker).toBe("dead");
  theatre.clock.advance(5001);
  const alive = theatre.process({ worker: "alive" });
  const work = alive.drive("r");
  await settle();
  const before = (await theatre.links("r")).length;
  // What the dead one still had to say goes through its desk.
  const desk = new Desk(theatre.store, theatre.clock, claim, 5000);
  const record = { op: "record", budget: "r", action: { action_type: "Lie", data: {} } } as const;
  await expect(desk.apply([record])).rejects.toThrow(ClaimLostError);
  await expect(desk.apply([record])).rejects.toThrow("taken over by another worker");
  expect(await theatre.links("r")).toHaveLength(before);
  state.gate.open();
  expect(await theatre.until(work)).toMatchObject({ status: "completed" });
  await settle();
  // Both made the call, but only one of them could tell.
  expect(state.begun).toBe(2);
  expect(theatre.said).toEqual(["before", "after"]);
  const { usage } = await alive.result(await alive.find("r"));
  expect(usage.steps).toBe(3);
});

test("a worker that is told to stop lets go of its runs at once, and does not take them again", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program], [tool]);
  const worker = new Worker({ bursar: theatre.process(), timer: theatre.clock });
  await theatre.process().start("holder", null, { id: "r" });
  await worker.look();
  await settle();
  expect(state.begun).toBe(1);
  let over = false;
  const stopping = worker[Symbol.asyncDispose]().then(() => {
    over = true;
  });
  await settle(200);
  expect(over).toBe(true);
  await stopping;
  // Nobody else is there, so the run must not go on.
  for (let turn = 0; turn < 10; turn++) {
    theatre.clock.advance(10_000);
    await settle(20);
  }
  expect(state.begun).toBe(1);
  expect(theatre.said).toEqual(["before"]);
});

test("what a worker lets go of can be taken by another without waiting for its claim to run out", async () => {
  const { state, tool, program } = held();
  const theatre = new Theatre([program], [tool]);
  const first = theatre.process();
  const work = first.run("holder", null, { id: "r" });
  work.catch(() => {});
  await settle();
  void first[Symbol.asyncDispose]();
  await settle();
  state.gate.open();
  const second = new Worker({ bursar: theatre.process(), timer: theatre.clock });
  expect(await second.look()).toBe(1);
});

test("a run whose program is not known here is left for somebody else, and told about", async () => {
  const theatre = new Theatre([talker]);
  await theatre.process().start("talker", words("a"), { id: "r" });
  const failures: string[] = [];
  const bursar = theatre.process({ programs: [] });
  const worker = new Worker({ bursar, timer: theatre.clock, failed: (error) => failures.push(String(error)) });
  expect(await worker.look()).toBe(0);
  expect(failures[0]).toContain("the program talker is not known here");
  expect(await statusOf(theatre, "r")).toBe("queued");
});

test("a worker that is closed lets go of its runs, which is no fault", async () => {
  const sleeper = defineAgent("sleeper", (ctx) => ctx.sleep(600_000));
  const theatre = new Theatre([sleeper]);
  const bursar = theatre.process();
  await bursar.start("sleeper", null, { id: "r" });
  const failures: unknown[] = [];
  const worker = new Worker({ bursar, timer: theatre.clock, failed: (error) => failures.push(error) });
  expect(await worker.look()).toBe(1);
  await settle();
  await theatre.until(worker.close());
  expect(failures).toEqual([]);
  expect(await statusOf(theatre, "r")).toBe("queued");
});

test("options that make no sense are refused with their field", () => {
  const bursar = new Theatre([]).process();
  expect(() => new Worker({ bursar, most: 0 })).toThrow("most is 0");
  expect(() => new Worker({ bursar, every_ms: -1 })).toThrow("every_ms");
  expect(() => new Worker({ bursar, every: 5 } as never)).toThrow("every");
});

test("who drives a run in a Bursar that is closed is told so, and not that somebody else has it", async () => {
  const theatre = new Theatre([defineAgent("sleepy", async (ctx) => ctx.sleep(60_000))]);
  const bursar = theatre.process();
  const driving = bursar.run("sleepy", null, { id: "r" });
  driving.catch(() => {});
  await settle();
  await bursar[Symbol.asyncDispose]();
  const closed = { code: "claim_lost", message: expect.stringContaining("was closed") };
  await expect(driving).rejects.toMatchObject(closed);
  await expect(bursar.drive("r")).rejects.toMatchObject(closed);
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed" });
});

/** A worker that drives a run whose tool has begun. */
async function inTheMiddle(program: Program, tool: Tool, state: { readonly begun: number }) {
  const theatre = new Theatre([program], [tool]);
  const bursar = theatre.process();
  await bursar.start(program.name, null, { id: "run" });
  const worker = new Worker({ bursar, timer: theatre.clock });
  worker.start();
  await wait(theatre, async () => state.begun === 1);
  return { theatre, worker };
}

test("a worker that is closed lets what is being made come to its end, and begins nothing else", async () => {
  const { state, tool, program } = held();
  const { theatre, worker } = await inTheMiddle(program, tool, state);

  const closing = worker.close({ within_ms: 5000 });
  await settle();
  state.gate.open();
  await theatre.until(closing);

  expect(theatre.said).toEqual(["before"]);
  const next = theatre.process();
  expect(await theatre.until(next.resume("run"))).toMatchObject({ status: "completed", usage: { steps: 3 } });
  expect([state.begun, theatre.said]).toEqual([1, ["before", "after"]]);
});

test("what takes longer than a closing worker waits is given up, and made again by the next", async () => {
  const { state, tool, program } = held();
  const { theatre, worker } = await inTheMiddle(program, tool, state);

  await theatre.until(worker.close({ within_ms: 5000 }));
  state.gate.open();

  const next = theatre.process();
  expect(await theatre.until(next.resume("run"))).toMatchObject({ status: "completed" });
  expect([state.begun, theatre.said]).toEqual([2, ["before", "after"]]);
});

test("a program that ends while its worker closes has ended", async () => {
  const { state, tool } = held();
  const program = defineAgent("short", (ctx) => ctx.tool("held"));
  const { theatre, worker } = await inTheMiddle(program, tool, state);

  const closing = worker.close({ within_ms: 5000 });
  await settle();
  state.gate.open();
  await theatre.until(closing);
  expect(await statusOf(theatre, "run")).toBe("completed");
});
