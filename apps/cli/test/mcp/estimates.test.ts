import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AGENT, call, type McpStage, OPERATOR, openStage, toolNames, VIEWER } from "./stage.js";

let stage: McpStage;
beforeAll(async () => {
  stage = await openStage({
    sandbox: async () => {
      throw new Error("nothing here executes code");
    },
  });
  for (let past = 0; past < 3; past++) await stage.bursar.run("writer", { words: 4 });
});
afterAll(() => stage[Symbol.asyncDispose]());

const FOUR = { program: "writer", input: { words: 4 } };

describe("run_estimate", () => {
  test("is offered to those who may start runs", async () => {
    expect(await toolNames(await stage.connect(AGENT))).toContain("run_estimate");
    expect(await toolNames(await stage.connect(VIEWER))).not.toContain("run_estimate");
  });

  test("tells what a run would take, whether it fits and where that comes from; nothing is started", async () => {
    const client = await stage.connect(AGENT);
    const { said, text } = await call(client, "run_estimate", { ...FOUR, limits: { llm_tokens: 300 } });
    expect(said).toMatchObject({
      program: "writer",
      fits: false,
      notes: [],
      opinions: [{ source: "history", samples: 3 }],
    });
    expect(said.dimensions).toContainEqual(
      expect.objectContaining({ dimension: "llm_tokens", median: 400, limit: 300, source: "history" }),
    );
    expect(text).toMatch(/^"writer" is expected not to fit into its limits\.\n/);
    expect(text).toMatch(/llm_tokens: about 400, up to \d+ \(limit 300, \d+ missing\)/);
    expect(await stage.bursar.store.counts("run")).toEqual({ completed: 3 });
    expect((await call(client, "run_estimate", FOUR)).text).toMatch(/^"writer" is expected to fit\.\n/);
    expect((await call(client, "run_estimate", { program: "sleeper" })).text).toContain("Nobody can say");
    expect((await call(client, "run_estimate", { program: "nobody" })).isError).toBe(true);
  });

  test("an agent is told of nothing that it could not start", async () => {
    const client = await stage.connect(AGENT);
    const { isError, text } = await call(client, "run_estimate", { ...FOUR, limits: { llm_tokens: 900_000_000 } });
    expect([isError, text]).toEqual([true, expect.stringContaining("llm_tokens")]);
  });
});

describe("a run that is expected not to fit", () => {
  test("asks before it begins, with the prediction", async () => {
    const client = await stage.connect(OPERATOR);
    const wish = { ...FOUR, limits: { llm_tokens: 300 }, preflight: "ask" };
    const { said, text } = await call(client, "run_start", wish);
    expect(said).toMatchObject({ status: "paused", expected: expect.arrayContaining([expect.anything()]) });
    expect(said.requests).toMatchObject([
      { exhausted_dimension: null, prediction: { dimensions: expect.arrayContaining([expect.anything()]) } },
    ]);
    expect(text).toContain("the run is expected not to fit, and asks to begin all the same");
    const [request] = said.requests as never as { approval_id: string }[];
    const extensions = { llm_tokens: 500 };
    const decided = await call(client, "budget_approve", { checkpoint_id: request?.approval_id, extensions });
    expect(decided.said).toMatchObject({ run: { status: "completed" } });
  });
});

test("what is held is told apart from what is used, in words too", async () => {
  const client = await stage.connect(AGENT);
  const { store } = stage.bursar;
  const grant = { kind: "limits", limits: { llm_tokens: 1000 } } as never;
  await store.apply([
    { op: "open", parent: null, opening: { id: "team", scope: "shared", grant } },
    { op: "reserve", budget: "team", call: "c", kind: "model", asked: { llm_tokens: 300 } as never },
  ]);
  const { said, text } = await call(client, "budget_status", { budget_id: "team" });
  expect(said.budgets).toMatchObject([{ held: { llm_tokens: 300 }, used: { llm_tokens: 0 } }]);
  expect(text).toContain("llm_tokens 0 of 1000 (and 300 held for calls under way)");
  const { contents } = await client.readResource({ uri: "bursar://budgets/team" });
  const [first] = contents;
  expect(JSON.parse(first !== undefined && "text" in first ? first.text : "")).toMatchObject({
    budgets: [{ held: { llm_tokens: 300 } }],
  });
});
