import { expect, test } from "vitest";
import { defineAgent, type Program, Worker } from "../../src/index.js";
import { ANN, listOf, mortal, pausedOf, settle, Theatre } from "./stage.js";

const OPTIONS = { id: "r", limits: { steps: 2 }, policies: { steps: "approval_required" } } as const;

const original = defineAgent("writer", async (ctx) => {
  for (const text of ["a", "b", "c"]) await ctx.tool("echo", { text });
  return "original";
});
/** Other code that does the same, as far as the run has come. */
const laterChanged = defineAgent("writer", async (ctx) => {
  for (const text of ["a", "b", "c", "d"]) await ctx.tool("echo", { text });
  return "changed";
});
const pastChanged = defineAgent("writer", async (ctx) => {
  for (const text of ["a", "x", "c"]) await ctx.tool("echo", { text });
  return "changed";
});
/** The text of the function says nothing of what is around it. */
const madeWith = (second: string): Program =>
  defineAgent("writer", async (ctx) => {
    for (const text of ["a", second, "c"]) await ctx.tool("echo", { text });
    return second;
  });

async function paused(program: Program = original) {
  const theatre = new Theatre([program]);
  pausedOf(await theatre.process().run("writer", null, OPTIONS));
  return theatre;
}

async function standsUndecided(theatre: Theatre): Promise<void> {
  const bursar = theatre.process();
  expect(await bursar.find("r")).toMatchObject({ status: "paused" });
  expect(await listOf(bursar.approvals("pending"))).toHaveLength(1);
  expect((await theatre.store.budget("r"))?.extended).toEqual({});
  expect(theatre.said).toEqual(["a", "b"]);
}

test.each([
  ["what it has done", original, pastChanged],
  ["what it will do", original, laterChanged],
  ["what is around its function", madeWith("b"), madeWith("x")],
] as const)("a program that was changed in %s is noticed before the yes", async (_, before, after) => {
  const theatre = await paused(before);
  const changed = theatre.process({ programs: [after] });
  for (const act of [
    () => changed.approve("r/checkpoint", { by: ANN }),
    () => changed.decide("r/checkpoint", "approve", { by: ANN }),
    () => changed.resumeFromCheckpoint("r/checkpoint", { steps: 5 }),
    () => changed.resume("r"),
  ]) {
    await expect(act()).rejects.toMatchObject({ code: "program_changed" });
    await standsUndecided(theatre);
  }
  const done = await theatre.process().approve("r/checkpoint", { by: ANN });
  expect(done).toMatchObject({ status: "completed" });
  expect(theatre.said).toEqual(["a", "b", "c"]);
});

test("a changed program may be denied, which takes none", async () => {
  const theatre = await paused();
  const bursar = theatre.process({ programs: [laterChanged] });
  expect(await theatre.until(bursar.deny("r/checkpoint", { by: ANN }))).toMatchObject({ status: "cancelled" });
});

test("a changed program that an operator allows goes on where it does the same", async () => {
  const theatre = await paused();
  const changed = theatre.process({ programs: [laterChanged] });
  const done = await changed.approve("r/checkpoint", { by: ANN, extensions: { steps: 5 }, replayChanged: true });
  expect(done).toMatchObject({ status: "completed", result: "changed" });
  expect(theatre.said).toEqual(["a", "b", "c", "d"]);
  expect(await theatre.events("r")).toContain("ChangedProgramAllowed");
});

test.each([
  [original, pastChanged],
  [madeWith("b"), madeWith("x")],
])("a changed program that differs pauses the run there, and the old one goes on with it", async (before, after) => {
  const theatre = await paused(before);
  const changed = theatre.process({ programs: [after] });
  const stopped = await changed.approve("r/checkpoint", { by: ANN, extensions: { steps: 5 }, replayChanged: true });
  expect(stopped).toMatchObject({ status: "paused", approvals: [], problem: expect.stringContaining("as its effect") });
  expect(theatre.said).toEqual(["a", "b"]);
  await expect(changed.resume("r")).rejects.toMatchObject({ code: "program_changed" });
  expect(pausedOf(await changed.resume("r", ANN, { replayChanged: true })).problem).toContain("as its effect");
  // What was granted stays granted.
  expect(await theatre.process().resume("r")).toMatchObject({ status: "completed" });
  expect(theatre.said).toEqual(["a", "b", "c"]);
});

test("a process without the program lets an operator allow a changed one for a worker that has it", async () => {
  const theatre = await paused();
  const elsewhere = theatre.process({ programs: [] });
  const options = { by: ANN, extensions: { steps: 5 }, replayChanged: true };
  await elsewhere.decide("r/checkpoint", "approve", options);
  const worker = theatre.process({ programs: [laterChanged] });
  expect(await theatre.until(worker.drive("r"))).toMatchObject({ status: "completed", result: "changed" });
});

test("a worker leaves a run alone whose program it has in another code, and tells so", async () => {
  const theatre = await paused();
  await theatre.process({ programs: [] }).decide("r/checkpoint", "approve", { by: ANN });
  const told: unknown[] = [];
  const bursar = theatre.process({ programs: [laterChanged] });
  await using worker = new Worker({ bursar, timer: theatre.clock, failed: (error) => told.push(error) });
  worker.start();
  for (let turn = 0; turn < 90; turn++) {
    theatre.clock.advance(1000);
    await settle(5);
  }
  expect(told[0]).toMatchObject({ code: "program_changed" });
  expect(await bursar.find("r")).toMatchObject({ status: "queued" });
  expect((await theatre.events("r")).filter((event) => event === "RunClaimed")).toHaveLength(1);
  expect(await bursar.missingFor("r")).toEqual([expect.stringContaining("was changed")]);
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed", result: "original" });
});

test("a run whose worker died is not driven on with a changed program", async () => {
  const theatre = new Theatre([original]);
  const { seen: store, kill } = mortal(theatre.store);
  void theatre.process({ store }).run("writer", null, { id: "r" });
  for (let turn = 0; turn < 1000 && theatre.said.length < 2; turn++) await settle(1);
  kill();
  theatre.clock.advance(40_000);
  const changed = theatre.process({ programs: [laterChanged] });
  await expect(theatre.until(changed.drive("r"))).rejects.toMatchObject({ code: "program_changed" });
  expect(await theatre.until(theatre.process().drive("r"))).toMatchObject({ status: "completed", result: "original" });
});
