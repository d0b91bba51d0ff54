import OpenAI from "openai";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";

const PRICES = { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };

async function scene(script: Parameters<typeof openScriptedModel>[0]["script"]) {
  const model = await openScriptedModel({ script });
  const client = new OpenAI({ baseURL: model.url, apiKey: "k", fetch: governedFetch({ prices: PRICES }) });
  return { model, client, [Symbol.asyncDispose]: () => model[Symbol.asyncDispose]() };
}

test("a call is charged what the provider says it used", async () => {
  await using at = await scene([
    { kind: "text", text: "Hello.", usage: { prompt_tokens: 100, completion_tokens: 20 } },
  ]);
  const state = await withBudget({ cost_usd: 1 }, async (budget) => {
    const answer = await at.client.chat.completions.create({
      model: "scripted",
      messages: [{ role: "user", content: "Hi" }],
    });
    expect(answer.choices[0]?.message.content).toBe("Hello.");
    return budget.state();
  });
  expect(state.used).toMatchObject({ llm_tokens: 120, cost_usd: 0.0003, steps: 1 });
  expect(state.held).toEqual({});
});

test("a call that does not fit is not sent, and the SDK shows why", async () => {
  await using at = await scene(["Hello."]);
  await withBudget({ llm_tokens: 10 }, async () => {
    const error = await at.client.chat.completions
      .create({ model: "scripted", messages: [{ role: "user", content: "Hi" }] })
      .catch((each: unknown) => each);
    expect((error as Error).message).toContain("llm_tokens");
    expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "llm_tokens", limit: 10, used: 0 });
  });
  expect(at.model.count).toBe(0);
});

test("a stream is charged by its own usage, which the caller does not see unless he asked for it", async () => {
  await using at = await scene([
    { kind: "text", text: "one two three four", usage: { prompt_tokens: 50, completion_tokens: 5 } },
  ]);
  await withBudget({ cost_usd: 1 }, async (budget) => {
    const stream = await at.client.chat.completions.create({
      model: "scripted",
      stream: true,
      messages: [{ role: "user", content: "Hi" }],
    });
    let text = "";
    for await (const chunk of stream) {
      expect(chunk.choices).toHaveLength(1);
      text += chunk.choices[0]?.delta.content ?? "";
    }
    expect(text).toBe("one two three four");
    expect((await budget.state()).used).toMatchObject({ llm_tokens: 55, steps: 1 });
    expect((await budget.state()).held).toEqual({});
  });
});
