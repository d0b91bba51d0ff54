import { createOpenAI } from "@ai-sdk/openai";
import { embedMany, generateText, stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { govern } from "../../../src/models/ai/govern.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import type { Script } from "../../../src/testing/scripted-model.js";
import { modelOn, openScene, PRICES, usedIn, WIRES } from "./scene.js";

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const COST = 0.0003;
const tools = { search: tool({ inputSchema: z.object({ query: z.string() }), execute: ({ query }) => `no ${query}` }) };

/** Searches once, then answers. */
const searching: Script = ({ number }) =>
  number === 1
    ? {
        kind: "text",
        text: "Let me look.",
        tool_calls: [{ name: "search", arguments: { query: "bolts" } }],
        usage: USAGE,
      }
    : { kind: "text", text: "None left.", usage: USAGE };

describe.for(WIRES)("govern, %s", (wire) => {
  test("charges what the wire says, for each step of a loop", async () => {
    await using at = await openScene(searching, { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const { text } = await at.budget.run(() =>
      generateText({ model, prompt: "Bolts?", tools, stopWhen: stepCountIs(3) }),
    );
    expect(text).toBe("None left.");
    const { used, held } = await at.budget.state();
    expect(used).toMatchObject({
      steps: 2,
      llm_input_tokens: 200,
      llm_output_tokens: 40,
      llm_tokens: 240,
      cost_usd: 2 * COST,
    });
    expect(held).toEqual({});
  });

  test("charges a stream by its own usage, before its reader hears that it is over", async () => {
    await using at = await openScene(searching, { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const result = at.budget.run(() => streamText({ model, prompt: "Bolts?", tools, stopWhen: stepCountIs(3) }));
    let text = "";
    for await (const piece of result.textStream) text += piece;
    expect(text).toBe("Let me look.None left.");
    const { used, held } = await at.budget.state();
    expect(used).toMatchObject({ steps: 2, llm_input_tokens: 200, llm_output_tokens: 40, cost_usd: 2 * COST });
    expect(held).toEqual({});
  });

  test("does not send what does not fit, and says so without another try", async () => {
    await using at = await openScene(searching, { cost_usd: 0.000001 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const error = await at.budget.run(() => generateText({ model, prompt: "Bolts?" }).catch((each: unknown) => each));
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect((error as BudgetExceededError).report).toMatchObject({
      code: "budget_exceeded",
      dimension: "cost_usd",
      limit: 0.000001,
    });
    const errors: unknown[] = [];
    const streamed = at.budget.run(() =>
      streamText({ model, prompt: "Bolts?", onError: ({ error }) => void errors.push(error) }),
    );
    await streamed.consumeStream();
    expect(errors).toEqual([expect.any(BudgetExceededError)]);
    expect(at.server.count).toBe(0);
    expect(await usedIn(at.budget)).toMatchObject({ steps: 0, llm_tokens: 0, cost_usd: 0 });
  });

  test("holds the answer to what is left", async () => {
    await using at = await openScene(() => "word ".repeat(2000), { llm_output_tokens: 50 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    const { finishReason, usage } = await at.budget.run(() =>
      generateText({ model, prompt: "Bolts?", maxOutputTokens: 900 }),
    );
    expect([finishReason, usage.outputTokens]).toEqual(["length", 50]);
    expect(at.server.requests[0]?.max_tokens).toBe(50);
    expect((await at.budget.state()).used).toMatchObject({ llm_output_tokens: 50 });
  });

  test("counts every attempt of a retry storm, and pays for what was computed alone", async () => {
    const busy = { kind: "status", status: 429, headers: { "retry-after-ms": "1" } } as const;
    await using at = await openScene([busy, busy, { kind: "text", text: "Yes.", usage: USAGE }], { cost_usd: 1 });
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    await at.budget.run(() => generateText({ model, prompt: "Bolts?" }));
    expect(at.server.count).toBe(3);
    expect((await at.budget.state()).used).toMatchObject({ steps: 3, llm_tokens: 120, cost_usd: COST });
  });

  test("over a governed wire, meters once, also what is sent again", async () => {
    const busy = { kind: "status", status: 429, headers: { "retry-after-ms": "1" } } as const;
    await using at = await openScene([busy, { kind: "text", text: "Yes.", usage: USAGE }], { cost_usd: 1 });
    const model = govern(govern(modelOn(wire, at.server, {}), { prices: PRICES }), { prices: PRICES });
    await at.budget.run(() => generateText({ model, prompt: "Bolts?" }));
    expect(at.server.count).toBe(2);
    const { used, held } = await at.budget.state();
    expect(used).toMatchObject({ steps: 2, llm_tokens: 120, cost_usd: COST });
    expect(held).toEqual({});
  });
});

test("embeds", async () => {
  await using at = await openScene([{ kind: "text", text: "", usage: { prompt_tokens: 7, completion_tokens: 0 } }], {
    llm_tokens: 1000,
  });
  const model = govern(createOpenAI({ baseURL: at.server.url, apiKey: "k" }).embedding("vectors"), { prices: PRICES });
  const { embeddings } = await at.budget.run(() => embedMany({ model, values: ["one", "two"] }));
  expect(embeddings).toHaveLength(2);
  expect((await at.budget.state()).used).toMatchObject({ steps: 1, llm_tokens: 7, cost_usd: 0.000007 });
});
