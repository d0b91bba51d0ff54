import { type Bursar, openBursar, parseLine, type RunRecord } from "bursar";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../listening-process.js";
import { AGENT, call, type McpStage, OPERATOR, openStage } from "./stage.js";

let stage: McpStage;

beforeAll(async () => {
  stage = await openStage({
    sandbox: async () => {
      throw new Error("nothing here executes code");
    },
    // Nobody drives what is started here unless a test says so.
    queued: () => {},
  });
});
afterAll(() => stage[Symbol.asyncDispose]());

/** Somebody else at the same store, who drives the run as a process of its own would. */
async function drivenElsewhere(
  id: string,
  claim_ms: number,
): Promise<{ readonly elsewhere: Bursar; readonly done: Promise<RunRecord> }> {
  const { programs, bursar } = stage;
  const elsewhere = openBursar({ store: bursar.store, programs, worker: "elsewhere", claim_ms });
  const done = elsewhere.drive(id);
  done.catch(() => {});
  await until("it is driven", async () => (await stage.bursar.find(id)).status === "running");
  return { elsewhere, done };
}

async function workersOf(id: string): Promise<readonly unknown[]> {
  const { budget } = await stage.bursar.find(id);
  const workers: unknown[] = [];
  for await (const line of stage.bursar.store.chain(budget)) {
    const { action_type, data } = parseLine(line);
    if (action_type === "RunClaimed") workers.push(data.worker);
  }
  return workers;
}

test("a run that another process drives is ended there, and nobody takes it away", async () => {
  const client = await stage.connect(AGENT);
  const { said } = await call(client, "run_start", { program: "sleeper", wait_ms: 0 });
  const id = String(said.run_id);
  const { elsewhere, done } = await drivenElsewhere(id, 300);
  const cancelled = await call(client, "run_cancel", { run_id: id, reason: "enough" });
  expect(cancelled.said).toMatchObject({ status: "cancelled" });
  expect((await done).cancel).toEqual({ by: AGENT.name, reason: "enough" });
  expect(await workersOf(id)).toEqual(["elsewhere"]);
  await elsewhere[Symbol.asyncDispose]();
});

test("while it has not heard of it, the answer says that it was told", async () => {
  const client = await stage.connect(OPERATOR);
  const { said } = await call(client, "run_start", { program: "sleeper", wait_ms: 0 });
  const id = String(said.run_id);
  const { elsewhere, done } = await drivenElsewhere(id, 3_600_000);
  const asked = await call(client, "run_cancel", { run_id: id, reason: "enough", wait_ms: 100 });
  const cancel = { by: OPERATOR.name, reason: "enough" };
  expect(asked.said).toMatchObject({ status: "running", cancel });
  expect(asked.text).toContain("told to end");
  expect((await call(client, "run_status", { run_id: id })).said).toMatchObject({ status: "running", cancel });
  // As a process that dies; its claim is let go, and the run is ended here.
  await elsewhere[Symbol.asyncDispose]();
  await done.catch(() => {});
  await until("it has ended", async () => (await stage.bursar.find(id)).status === "cancelled");
});

test("one that waits for a worker is ended at once", async () => {
  const client = await stage.connect(OPERATOR);
  const { said } = await call(client, "run_start", { program: "sleeper", wait_ms: 0 });
  const { said: ended } = await call(client, "run_cancel", { run_id: said.run_id });
  expect(ended).toMatchObject({ status: "cancelled" });
});
