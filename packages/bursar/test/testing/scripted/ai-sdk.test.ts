import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, embedMany, generateText, type LanguageModel, stepCountIs, streamText, tool } from "ai";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import type { ScriptedProtocol } from "../../../src/testing/scripted/request.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";

const GPT = "gpt-5";
const CLAUDE = "claude-opus-4-5";
const TEXT = "Grüße from a script, long enough for several pieces: 1, 2, 3, 4, 5, 6, 7.";
const CALL = { name: "search", arguments: { query: "bolts" } };
const USAGE = { prompt_tokens: 100, completion_tokens: 40, cached_tokens: 60, reasoning_tokens: 25 };

const MODELS: readonly (readonly [ScriptedProtocol, (server: ScriptedModel) => LanguageModel])[] = [
  ["openai-chat", ({ url: baseURL }) => createOpenAI({ baseURL, apiKey: "k" }).chat(GPT)],
  ["openai-responses", ({ url: baseURL }) => createOpenAI({ baseURL, apiKey: "k" }).responses(GPT)],
  ["anthropic-messages", ({ url: baseURL }) => createAnthropic({ baseURL, apiKey: "k" })(CLAUDE)],
];

/** Searches, reads what was found, and says so. */
const searching: Script = ({ text, number }) =>
  number === 1
    ? { kind: "text", text: "Let me look.", tool_calls: [CALL], usage: USAGE }
    : { kind: "text", text: `${TEXT} ${text}`, usage: USAGE };

const tools = {
  search: tool({ inputSchema: z.object({ query: z.string() }), execute: ({ query }) => `no ${query}` }),
};

describe.for(MODELS)("the AI SDK, %s", ([protocol, modelAt]) => {
  test("generates, with tools, and finds the usage", async () => {
    await using server = await openScriptedModel({ script: searching, models: [GPT, CLAUDE] });
    const { text, steps, totalUsage } = await generateText({
      model: modelAt(server),
      prompt: "Bolts?",
      tools,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    expect(text).toBe(`${TEXT} no bolts`);
    expect(steps[0]?.toolCalls).toMatchObject([{ toolName: "search", input: CALL.arguments }]);
    expect(totalUsage).toMatchObject({
      inputTokens: 200,
      outputTokens: 80,
      totalTokens: 280,
      inputTokenDetails: { cacheReadTokens: 120 },
      outputTokenDetails: { reasoningTokens: 50 },
    });
    expect(server.requests.map((request) => request.protocol)).toEqual([protocol, protocol]);
  });

  test("streams, with tools, and finds the same usage", async () => {
    await using server = await openScriptedModel({ script: searching, models: [GPT, CLAUDE] });
    const result = streamText({
      model: modelAt(server),
      prompt: "Bolts?",
      tools,
      stopWhen: stepCountIs(3),
      maxRetries: 0,
    });
    const pieces: string[] = [];
    for await (const piece of result.textStream) pieces.push(piece);
    expect(pieces.length).toBeGreaterThan(3);
    expect(await result.text).toBe(`${TEXT} no bolts`);
    expect(await result.finishReason).toBe("stop");
    expect(await result.totalUsage).toMatchObject({ inputTokens: 200, outputTokens: 80, cachedInputTokens: 120 });
    expect(server.requests.map((request) => request.stream)).toEqual([true, true]);
  });

  test("is cut at its limit, in this protocol's own spelling", async () => {
    await using server = await openScriptedModel({ script: () => TEXT.repeat(5), models: [GPT, CLAUDE] });
    const model = modelAt(server);
    const { finishReason, usage } = await generateText({ model, prompt: "Bolts?", maxOutputTokens: 20 });
    expect([finishReason, usage.outputTokens]).toEqual(["length", 20]);
    const streamed = streamText({ model, prompt: "Bolts?", maxOutputTokens: 20 });
    await streamed.consumeStream();
    expect(await streamed.finishReason).toBe("length");
    expect(server.requests.map(({ max_tokens }) => max_tokens)).toEqual([20, 20]);
  });

  test("reads errors, and knows which of them to try again", async () => {
    await using server = await openScriptedModel({
      script: [
        { kind: "status", status: 500, message: "on fire" },
        { kind: "status", status: 400 },
      ],
      models: [GPT, CLAUDE],
    });
    const ask = () =>
      generateText({ model: modelAt(server), prompt: "Bolts?", maxRetries: 0 }).catch((error: unknown) => error);
    const [failed, refused] = [await ask(), await ask()];
    expect(failed).toBeInstanceOf(APICallError);
    expect(failed).toMatchObject({ message: "on fire", statusCode: 500, isRetryable: true });
    expect(refused).toMatchObject({ statusCode: 400, isRetryable: false });
  });
});

test("the AI SDK embeds", async () => {
  await using server = await openScriptedModel({ script: () => "", models: [GPT, CLAUDE] });
  const model = createOpenAI({ baseURL: server.url, apiKey: "k" }).embedding(GPT);
  const { embeddings, usage } = await embedMany({ model, values: ["one", "two"] });
  expect(embeddings.map((vector) => vector.length)).toEqual([1536, 1536]);
  expect(usage.tokens).toBe(2);
});

test("the AI SDK shows Anthropic's thinking, and OpenAI's summary of it", async () => {
  const thinking = "Let me see. ".repeat(5);
  await using server = await openScriptedModel({
    script: () => ({ kind: "text", text: "Yes.", thinking }),
    models: [GPT, CLAUDE],
  });
  const asked = { prompt: "Bolts?", maxOutputTokens: 2000 };
  const budget = { anthropic: { thinking: { type: "enabled" as const, budgetTokens: 1024 } } };
  const claude = createAnthropic({ baseURL: server.url, apiKey: "k" })(CLAUDE);
  const thought = await generateText({ model: claude, ...asked, providerOptions: budget });
  expect([thought.reasoningText, thought.text]).toEqual([thinking, "Yes."]);
  const gpt = createOpenAI({ baseURL: server.url, apiKey: "k" }).responses(GPT);
  const streamed = streamText({
    model: gpt,
    ...asked,
    providerOptions: { openai: { reasoningSummary: "auto" } },
  });
  await streamed.consumeStream();
  expect([await streamed.reasoningText, await streamed.text]).toEqual([thinking, "Yes."]);
});
