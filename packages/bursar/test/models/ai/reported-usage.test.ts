import fc from "fast-check";
import { expect, test } from "vitest";
import { reportedUsage } from "../../../src/models/ai/reported-usage.js";
import { sketchCall } from "../../../src/models/ai/sketch.js";

function wireFor(provider: string, modelId: string, providerOptions: Record<string, Record<string, unknown>> = {}) {
  const model = { specificationVersion: "v3", provider, modelId };
  const prompt = [{ role: "user", content: [{ type: "text", text: "Hi" }] }];
  return sketchCall(model, { prompt, providerOptions }, { stream: false, output_tokens: 4096 }).wire;
}

const CHAT = wireFor("openai.chat", "gpt-4.1");
const MESSAGES = wireFor("anthropic.messages", "claude-opus-4-5");
const AN_HOUR = wireFor("anthropic.messages", "claude-opus-4-5", { anthropic: { cacheControl: { ttl: "1h" } } });

test("reads versions 3 and 4", () => {
  const usage = {
    inputTokens: { total: 100, noCache: 30, cacheRead: 50, cacheWrite: 20 },
    outputTokens: { total: 40, text: 15, reasoning: 25 },
  };
  const counts = { input: 100, cache_read: 50, output: 40, reasoning: 25 };
  expect(reportedUsage({ usage }, CHAT)).toEqual({ ...counts, cache_write: 20 });
  expect(reportedUsage({ usage }, AN_HOUR)).toEqual({ ...counts, cache_write_1h: 20 });
});

test("reads version 2, in which Anthropic's input leaves out what was cached", () => {
  const usage = { inputTokens: 100, outputTokens: 40, totalTokens: 140, cachedInputTokens: 50, reasoningTokens: 25 };
  expect(reportedUsage({ usage }, CHAT)).toEqual({ input: 100, cache_read: 50, output: 40, reasoning: 25 });
  const providerMetadata = { anthropic: { cacheCreationInputTokens: 20 } };
  expect(reportedUsage({ usage, providerMetadata }, MESSAGES)).toEqual({
    input: 170,
    cache_read: 50,
    cache_write: 20,
    output: 40,
    reasoning: 25,
  });
});

test("the provider's own figures come first, where they are not less", () => {
  const usage = {
    inputTokens: { total: 100, noCache: 50, cacheRead: 0, cacheWrite: 50 },
    outputTokens: { total: 40, text: 40, reasoning: undefined },
  };
  const raw = (input_tokens: number) => ({
    input_tokens,
    output_tokens: 40,
    cache_creation_input_tokens: 50,
    cache_creation: { ephemeral_5m_input_tokens: 20, ephemeral_1h_input_tokens: 30 },
  });
  const exact = { input: 100, cache_write: 20, cache_write_1h: 30, output: 40 };
  expect(reportedUsage({ usage: { ...usage, raw: raw(50) } }, MESSAGES)).toEqual(exact);
  expect(reportedUsage({ usage: { ...usage, raw: raw(1) } }, MESSAGES)).toEqual({
    input: 100,
    cache_write: 50,
    output: 40,
  });
  // Before version 3 they stand beside the usage.
  const flat = { inputTokens: 50, outputTokens: 40 };
  expect(reportedUsage({ usage: flat, providerMetadata: { anthropic: { usage: raw(50) } } }, MESSAGES)).toEqual(exact);
});

test("thoughts that a provider leaves out of the output are output all the same", () => {
  const usage = { inputTokens: { total: 10 }, outputTokens: { total: 5, reasoning: 100 } };
  expect(reportedUsage({ usage }, CHAT)).toMatchObject({ input: 10, output: 105 });
});

test("what cannot be true is no usage", () => {
  const figure = fc.oneof(fc.constantFrom(-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53, "7", {}, [], true));
  fc.assert(
    fc.property(figure, (wrong) => {
      expect(reportedUsage({ usage: { inputTokens: { total: wrong }, outputTokens: { total: 5 } } }, CHAT)).toBeNull();
      expect(reportedUsage({ usage: { inputTokens: { total: 5 }, outputTokens: { total: wrong } } }, CHAT)).toBeNull();
      expect(reportedUsage({ usage: { inputTokens: 5, outputTokens: wrong } }, CHAT)).toBeNull();
      const cached = { inputTokens: { total: 5, cacheRead: wrong }, outputTokens: { total: 5 } };
      expect(reportedUsage({ usage: cached }, CHAT)).toBeNull();
    }),
  );
  for (const usage of [
    undefined,
    null,
    {},
    7,
    "usage",
    { inputTokens: {}, outputTokens: {} },
    { inputTokens: undefined },
  ]) {
    expect(reportedUsage({ usage }, CHAT)).toBeNull();
  }
});
