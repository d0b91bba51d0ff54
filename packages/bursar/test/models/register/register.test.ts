import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { runProgram } from "./program.js";

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const SAYS = { kind: "text", text: "Hi.", usage: USAGE } as const;
const ASKS = {
  kind: "text",
  text: "",
  usage: USAGE,
  tool_calls: [{ name: "weather", arguments: { city: "Rome" } }],
} as const;

test("a program of the OpenAI SDK is governed: chat, responses, embeddings and streams", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const args = ["chat", "responses", "embeddings", "stream"];

  const { code, outcomes, stderr } = await runProgram(
    "openai",
    args,
    { BURSAR_BUDGET: "cost_usd=0.50,steps=20" },
    model,
  );

  expect(code).toBe(0);
  expect(outcomes.map(({ value }) => value)).toEqual(["Hi.", "Hi.", 1, "Hi."]);
  expect(model.count).toBe(4);
  expect(stderr).toContain("4 model calls, 0 refusals");
  // Three answers at 100 + 20 tokens, and an embedding of 100.
  expect(stderr).toMatch(/used here: .*cost_usd 0\.001,/);
  expect(stderr).toContain("steps 16");
  expect(stderr).toContain("kept in memory and is gone; set BURSAR_STORE");
});

test("what does not fit is not sent, and the summary says what was refused", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const args = ["chat", "chat", "chat", "chat", "chat", "chat"];

  const { outcomes, stderr } = await runProgram("openai", args, { BURSAR_BUDGET: "steps=2" }, model);

  expect(outcomes.filter(({ value }) => value === "Hi.")).toHaveLength(2);
  expect(outcomes.filter(({ status }) => status === 402)).toHaveLength(4);
  expect(model.count).toBe(2);
  expect(stderr).toContain("2 model calls, 4 refusals");
  expect(stderr).toContain("refused 4 ×: steps (budget_exceeded, hard_stop)");
});

test("what is sent again counts, and what is left half read is charged and hung up on", async () => {
  const storm = [{ kind: "status", status: 429, retry_after_s: 0 }, { kind: "status", status: 500 }, SAYS] as const;
  await using model = await openScriptedModel({ script: storm });
  const { outcomes, stderr } = await runProgram("openai", ["chat"], { BURSAR_BUDGET: "steps=20" }, model);
  expect(outcomes).toEqual([{ value: "Hi." }]);
  expect(stderr).toContain("3 model calls");
  expect(stderr).toContain("steps 17");

  const half = { kind: "half", text: "one two three four", events: 3, ending: "hang" } as const;
  await using hanging = await openScriptedModel({ script: [half] });
  const left = await runProgram("openai", ["abort"], { BURSAR_BUDGET: "steps=20" }, hanging);
  expect(left.outcomes).toEqual([{ value: "left" }]);
  await expect.poll(() => hanging.aborted).toBe(1);
});

test("a program of the Anthropic SDK is governed", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const { outcomes } = await runProgram(
    "anthropic",
    ["create", "stream", "create"],
    { BURSAR_BUDGET: "steps=2" },
    model,
  );
  expect(outcomes.slice(0, 2)).toEqual([{ value: "Hi." }, { value: "Hi." }]);
  expect(outcomes[2]).toMatchObject({ status: 402 });
  expect(model.count).toBe(2);
});

test.each(["ai", "agents"])("a loop with tools of %s is governed", async (program) => {
  await using model = await openScriptedModel({ script: [ASKS, SAYS] });
  const done = await runProgram(program, [], { BURSAR_BUDGET: "steps=5" }, model);
  expect(done.outcomes).toEqual([{ value: "Hi." }]);
  expect(done.stderr).toContain("2 model calls, 0 refusals");

  await using short = await openScriptedModel({ script: [ASKS, SAYS] });
  const refused = await runProgram(program, [], { BURSAR_BUDGET: "steps=1" }, short);
  expect(refused.outcomes[0]?.error).toContain("steps");
  expect(short.count).toBe(1);
});

test("a program of LangChain is governed", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const { outcomes } = await runProgram("langchain", ["a", "b", "c"], { BURSAR_BUDGET: "steps=2" }, model);
  expect(outcomes.map(({ value }) => value)).toEqual(["Hi.", "Hi.", undefined]);
  expect(outcomes[2]?.error).toContain("steps");
  expect(model.count).toBe(2);
});

test("without a budget nothing is started, and what is mistyped is said", async () => {
  const none = await runProgram("openai", [], {});
  expect(none).toMatchObject({ code: 2, outcomes: [] });
  expect(none.stderr).toContain("set BURSAR_BUDGET");

  for (const [env, words] of [
    [{ BURSAR_BUDGET: "cots_usd=1" }, "did you mean cost_usd"],
    [{ BURSAR_BUDGET: "steps=1", BURSAR_POLICIES: "steps=hard" }, "allowed: hard_stop"],
    [{ BURSAR_BUDGET: "steps=1", BURSAR_POLICIES: "steps" }, "dimension=policy"],
    [{ BURSAR_BUDGET: "steps=1", BURSAR_PRICES: "{" }, "BURSAR_PRICES"],
    [{ BURSAR_BUDGET: "steps=1", BURSAR_PRICES: "no-such-file.json" }, "cannot be read (ENOENT)"],
    [{ BURSAR_BUDGET: "steps=1", BURSAR_PRICES: '{"m": {"input": 1}}' }, "prices.m.input"],
    [{ BURSAR_BUDGET: "steps=1", BURSAR_STORE: "mysql:x" }, "allowed: sqlite:<file>"],
  ] as const) {
    const { code, stderr } = await runProgram("openai", [], env);
    expect(stderr).toContain(words);
    expect(code).toBe(2);
  }
});

test("a price can be assumed of models that nobody knows; without it they are not called", async () => {
  await using model = await openScriptedModel({ script: () => SAYS, models: ["mystery"] });
  const env = { BURSAR_BUDGET: "cost_usd=1", MODEL: "mystery" };
  const refused = await runProgram("openai", ["chat"], env, model);
  expect(refused.outcomes[0]).toMatchObject({ status: 402 });
  expect(refused.stderr).toContain("refused 1 ×: unknown_price");
  const prices = JSON.stringify({ "*": { input_usd_per_mtok: 10, output_usd_per_mtok: 100 } });
  const made = await runProgram("openai", ["chat"], { ...env, BURSAR_PRICES: prices }, model);
  expect(made.outcomes).toEqual([{ value: "Hi." }]);
  expect(made.stderr).toContain("cost_usd 0.003");
});

test("what else costs something at a provider is refused, on every way; what goes elsewhere passes as it is", async () => {
  const seen: string[] = [];
  const room = createServer((request, response) => {
    seen.push(`${request.method} ${request.url} ${request.headers["x-test"] ?? ""}`);
    response.end("welcome");
  });
  await new Promise<void>((resolve) => room.listen(0, "127.0.0.1", resolve));
  await using model = await openScriptedModel({ script: () => SAYS });
  try {
    const address = `http://127.0.0.1:${(room.address() as AddressInfo).port}`;
    const budget = { BURSAR_BUDGET: "steps=5" };
    const { outcomes } = await runProgram("elsewhere", [address, model.origin], budget, model);
    expect(outcomes.slice(0, 3)).toMatchObject([{ status: 200, text: "welcome" }, { status: 200 }, { status: 200 }]);
    expect(outcomes).toHaveLength(6);
    for (const { error } of outcomes.slice(3)) expect(error).toContain("is not metered");
    expect(seen).toEqual(["POST /channels/7/messages kept", "POST /v1/embeddings kept", "POST /anything "]);

    const image = await runProgram("openai", ["image"], budget, model);
    expect(image.outcomes[0]).toMatchObject({ status: 402 });
    expect(image.stderr).toContain("refused 1 ×: not_governed");
    expect(model.count).toBe(0);
  } finally {
    room.close();
  }
});

test("a budget that the program opens itself lies in the one it was started with", async () => {
  await using model = await openScriptedModel({ script: () => SAYS });
  const { outcomes } = await runProgram("own-budget", [], { BURSAR_BUDGET: "steps=2" }, model);
  expect(outcomes.map(({ value }) => value)).toEqual(["Hi.", "Hi.", undefined, 2]);
  expect(model.count).toBe(2);
});
