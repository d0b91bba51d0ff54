import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { defineAgent, openBursar } from "bursar";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { until } from "../listening-process.js";
import { AGENT, call, type McpStage, OPERATOR, openStage } from "./stage.js";

/** Runs wait here for a worker, as they do in a server that bounds how many are driven. */
let stage: McpStage;
const queued: string[] = [];
/** What the worker does with a run that it is told of. */
let work: (run: string) => void = () => {};

beforeAll(async () => {
  stage = await openStage({
    sandbox: async () => {
      throw new Error("nothing here executes code");
    },
    queued: (run) => {
      queued.push(run);
      work(run);
    },
  });
});
afterAll(() => stage[Symbol.asyncDispose]());
beforeEach(() => {
  queued.length = 0;
  work = () => {};
});

const driving = (run: string) => void stage.bursar.drive(run).catch(() => {});
const PAUSING = { program: "writer", input: { words: 3 }, limits: { llm_tokens: 200 } };

test("a run that is started is left to the worker, and is queued until that has time", async () => {
  const client = await stage.connect(AGENT);
  const { said } = await call(client, "run_start", { program: "writer", wait_ms: 0 });
  expect(said).toMatchObject({ status: "queued" });
  expect(queued).toEqual([said.run_id]);
  driving(String(said.run_id));
  const status = await call(client, "run_status", { run_id: said.run_id, wait_ms: 20_000 });
  expect(status.said).toMatchObject({ status: "completed" });
});

test("its end is waited for", async () => {
  work = driving;
  const client = await stage.connect(AGENT);
  expect((await call(client, "run_start", { program: "writer" })).said).toMatchObject({ status: "completed" });
});

test.each([
  ["budget_approve", "completed"],
  ["budget_deny", "cancelled"],
])("after %s it is left to the worker", async (tool, end) => {
  work = driving;
  const client = await stage.connect(OPERATOR);
  const { said } = await call(client, "run_start", PAUSING);
  expect(said).toMatchObject({ status: "paused" });
  work = () => {};
  queued.length = 0;
  const decided = await call(client, tool, { checkpoint_id: said.checkpoint_id, wait_ms: 0 });
  expect(decided.said).toMatchObject({ run: { run_id: said.run_id, status: "queued" } });
  expect(queued).toEqual([said.run_id]);
  driving(String(said.run_id));
  await until("it has ended", async () => (await stage.bursar.find(String(said.run_id))).status === end);
});

test("what the person at the client allows is left to the worker, too", async () => {
  work = driving;
  const client = await stage.connect(OPERATOR, {
    capabilities: { elicitation: { form: {} } },
    prepare: (each: Client) =>
      each.setRequestHandler(ElicitRequestSchema, async () => ({ action: "accept", content: { decision: "approve" } })),
  });
  const { said } = await call(client, "run_start", PAUSING);
  expect(said).toMatchObject({ status: "completed" });
  expect(queued).toEqual([said.run_id, said.run_id]);
});

test("of a run that waits for another process it is told what is missing here", async () => {
  const foreign = defineAgent("foreign", async () => null);
  const elsewhere = openBursar({ store: stage.bursar.store, programs: [foreign] });
  const { id } = await elsewhere.start("foreign", null);
  const client = await stage.connect(OPERATOR);
  const { said, text } = await call(client, "run_status", { run_id: id, wait_ms: 0 });
  const missing = "the program foreign is not known here";
  expect(said).toMatchObject({ status: "queued", missing: [missing] });
  expect(text).toContain(missing);
});
