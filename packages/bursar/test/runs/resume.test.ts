import { expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { defineAgent } from "../../src/runs/agent.js";
import { answersOf } from "../../src/runs/answers.js";
import { pendingRequests } from "../../src/runs/decisions.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

/** Has locals, a loop and chance, which are all as they were when it goes on. */
const counter = defineAgent("counter", async (ctx, { to }: { to: number }) => {
  const seen: number[] = [];
  const lucky = await ctx.random();
  for (let turn = 0; turn < to; turn++) seen.push(Number(await ctx.tool("echo", { text: String(turn) })));
  return { seen, lucky };
});

const OPTIONS = { id: "r", limits: { steps: 2 }, policies: { steps: "approval_required" } } as const;

async function paused() {
  const theatre = new Theatre([counter]);
  const result = pausedOf(await theatre.process().run("counter", { to: 4 }, OPTIONS));
  return { theatre, checkpoint: result.checkpoint_id };
}

scenario("004/resume-from-checkpoint", async () => {
  const { theatre, checkpoint } = await paused();
  const done = await theatre.process().resumeFromCheckpoint(checkpoint, { steps: 10 });
  expect(done).toMatchObject({ status: "completed", result: { seen: [0, 1, 2, 3] } });
});

scenario("004/resume-load-checkpoint", async () => {
  const { theatre } = await paused();
  await expect(theatre.process().resumeFromCheckpoint("nobody/checkpoint")).rejects.toThrow("nobody is not there");
  // Another process knows nothing but the store.
  expect(await theatre.process().resumeFromCheckpoint("r/checkpoint", { steps: 2 })).toMatchObject({
    status: "completed",
  });
});

scenario("004/resume-restore-evaluator", async () => {
  const { theatre, checkpoint } = await paused();
  await theatre.process().resumeFromCheckpoint(checkpoint, { steps: 2 });
  // Nothing that had been done was done again.
  expect(theatre.said).toEqual(["0", "1", "2", "3"]);
});

scenario("004/resume-apply-extensions", async () => {
  const { theatre, checkpoint } = await paused();
  const again = pausedOf(await theatre.process().resumeFromCheckpoint(checkpoint, { steps: 1 }));
  expect(again).toMatchObject({ exhausted_dimension: "steps", usage: { steps: 3 } });
  expect((await theatre.store.budget("r"))?.extended).toEqual({ steps: 1 });
});

scenario("004/resume-continue-execution", async () => {
  const { theatre, checkpoint } = await paused();
  const done = await theatre.process().resumeFromCheckpoint(checkpoint, { steps: 2 });
  // What it had used before the pause still counts.
  expect(done.usage.steps).toBe(4);
  expect((await theatre.events("r")).filter((event) => event === "Allocation")).toHaveLength(1);
});

scenario("004/approve-load-checkpoint", async () => {
  const { theatre, checkpoint } = await paused();
  await expect(theatre.process().approve("q/checkpoint", { by: ANN })).rejects.toThrow("there is no request");
  expect(await theatre.process().approve(checkpoint, { by: ANN, extensions: { steps: 2 } })).toMatchObject({
    status: "completed",
  });
});

scenario("004/approve-log-extended", async () => {
  const { theatre, checkpoint } = await paused();
  await theatre.process().approve(checkpoint, { by: ANN, extensions: { steps: 2, llm_tokens: 100 }, reason: "go" });
  const extended = (await theatre.links("r")).filter(({ event }) => event === "Extended").map(({ data }) => data);
  expect(extended).toMatchObject([
    { dimension: "steps", additional: 2, approved_by: "ann", reason: "go" },
    { dimension: "llm_tokens", additional: 100, approved_by: "ann", reason: "go" },
  ]);
});

scenario("004/approve-resume", async () => {
  const { theatre, checkpoint } = await paused();
  await theatre.process().approve(checkpoint, { by: ANN, extensions: { steps: 2 } });
  expect((await theatre.process().find("r")).status).toBe("completed");
});

scenario("004/approve-return-result", async () => {
  const { theatre, checkpoint } = await paused();
  const next = pausedOf(await theatre.process().approve(checkpoint, { by: ANN, extensions: { steps: 1 } }));
  expect(next).toMatchObject({ status: "paused", exhausted_dimension: "steps" });
  const done = await theatre.process().approve(next.checkpoint_id, { by: ANN, extensions: { steps: 1 } });
  expect(done).toMatchObject({ status: "completed", result: { seen: [0, 1, 2, 3] } });
});

scenario("004/deny-load-checkpoint", async () => {
  const { theatre, checkpoint } = await paused();
  await expect(theatre.process().deny("q/checkpoint", { by: ANN })).rejects.toThrow("there is no request");
  expect(await theatre.process().deny(checkpoint, { by: ANN })).toMatchObject({ status: "cancelled" });
});

scenario("004/deny-cancelled", async () => {
  const { theatre, checkpoint } = await paused();
  await theatre.process().deny(checkpoint, { by: ANN, reason: "no" });
  expect(await theatre.process().find("r")).toMatchObject({ status: "cancelled", cancel: { by: "ann", reason: "no" } });
  expect(theatre.said).toEqual(["0", "1"]);
  // It is taken up only to be ended.
  expect(await theatre.events("r")).not.toContain("RunResumed");
});

scenario("004/deny-log-denied", async () => {
  const { theatre, checkpoint } = await paused();
  await theatre.process().deny(checkpoint, { by: ANN, reason: "no" });
  const denied = (await theatre.links("r")).find(({ event }) => event === "Denied");
  expect(denied?.data).toEqual({ dimension: "steps", checkpoint_id: "r/checkpoint.1", denied_by: "ann", reason: "no" });
});

scenario("004/deny-remove-checkpoint", async () => {
  const { theatre, checkpoint } = await paused();
  await theatre.process().deny(checkpoint, { by: ANN });
  await expect(theatre.process().approve(checkpoint, { by: ANN })).rejects.toThrow("nothing was decided");
  const left = await theatre.store.document("session", checkpoint);
  expect(left === null || left.status === "removed").toBe(true);
});

test("only one of two who answer is heard, and an answer that comes too late is none", async () => {
  const { theatre, checkpoint } = await paused();
  await theatre.process().approve(checkpoint, { by: ANN, extensions: { steps: 2 } });
  const [request] = await listOf(theatre.process().approvals("approved"));
  await expect(theatre.process().deny(request?.id ?? "", { by: ANN })).rejects.toThrow("approved by ann already");
  const late = await paused();
  late.theatre.clock.advance(25 * 60 * 60_000);
  await expect(late.theatre.process().approve(late.checkpoint, { by: ANN })).rejects.toThrow("has expired");
  // Asked anew, it can be answered.
  const again = pausedOf(await late.theatre.process().resume("r"));
  expect(
    await late.theatre.process().approve(again.approval_id ?? "", { by: ANN, extensions: { steps: 9 } }),
  ).toMatchObject({
    status: "completed",
  });
});

test("the run's own credentials never decide", async () => {
  const { theatre, checkpoint } = await paused();
  const own = { name: "r", role: "admin", run: "r" } as const;
  for (const work of ["approve", "deny"] as const) {
    await expect(theatre.process()[work](checkpoint, { by: own })).rejects.toThrow("no run may decide");
  }
  await expect(theatre.process().approve(checkpoint, { by: { name: "v", role: "viewer" } })).rejects.toThrow("only an");
});

test("decided without driving, a run is left to whoever has its program", async () => {
  const { theatre, checkpoint } = await paused();
  const stranger = theatre.process({ programs: [] });
  const options = { by: ANN, extensions: { steps: 2 } };
  expect(await stranger.decide(checkpoint, "approve", options)).toMatchObject({ run: "r", status: "approved" });
  expect(await stranger.find("r")).toMatchObject({ status: "queued" });
  expect(await pendingRequests(theatre.store, "r")).toEqual([]);
  expect(theatre.said).toEqual(["0", "1"]);
  expect(await theatre.process().drive("r")).toMatchObject({ status: "completed" });
});

test("denied without driving, a run is ended by whoever takes it up, with or without its program", async () => {
  const { theatre, checkpoint } = await paused();
  const stranger = theatre.process({ programs: [] });
  expect(await stranger.decide(checkpoint, "deny", { by: ANN })).toMatchObject({ status: "denied" });
  expect(await stranger.find("r")).toMatchObject({ status: "queued" });
  expect(await stranger.drive("r")).toMatchObject({ status: "cancelled", cancel: { by: "ann" } });
});

test("what a run waits for is what nobody has answered, and a request that has expired is none", async () => {
  const { theatre, checkpoint } = await paused();
  expect(await pendingRequests(theatre.store, "r")).toMatchObject([{ run: "r", exhausted_dimension: "steps" }]);
  theatre.clock.advance(25 * 60 * 60_000);
  await expect(theatre.process().approve(checkpoint, { by: ANN })).rejects.toThrow("has expired");
  expect(await pendingRequests(theatre.store, "r")).toEqual([]);
  await expect(theatre.process().approve(checkpoint, { by: ANN })).rejects.toThrow("has expired");
});

test("everything a program was told can be read again, also when it has ended", async () => {
  const failing = defineAgent("failing", async (ctx) => {
    await ctx.tool("nothing", {}).catch(() => {});
    return ctx.tool("echo", { text: "a" });
  });
  const theatre = new Theatre([failing]);
  await theatre.process().run("failing", null, { id: "r" });
  expect(await listOf(answersOf(theatre.store, "r"))).toMatchObject([
    { at: 0, number: 0, answered: { error: { code: "unknown_tool" } } },
    { at: 1, number: 1, answered: { value: "a" } },
  ]);
});

test("what is added where nobody asks for anything is refused, and not passed over in silence", async () => {
  const { theatre, checkpoint } = await paused();
  const bursar = theatre.process();
  pausedOf(await bursar.resumeFromCheckpoint(checkpoint, { steps: 1 }));

  await expect(bursar.resumeFromCheckpoint(checkpoint, { steps: 10 })).rejects.toMatchObject({ name: "ApprovalError" });

  expect((await theatre.store.budget("r"))?.extended).toEqual({ steps: 1 });
});
