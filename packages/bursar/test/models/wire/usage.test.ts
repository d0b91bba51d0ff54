import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/chain/canonical.js";
import { ANTHROPIC_MESSAGES } from "../../../src/models/wire/anthropic-messages.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import { OPENAI_RESPONSES } from "../../../src/models/wire/openai-responses.js";

/** Figures that no provider can mean. */
const ABSURD: readonly Json[] = [-1, 1.5, "12", 2 ** 53, true, [], {}];

describe("usage of a completion", () => {
  const usage = (more: Record<string, Json>) =>
    OPENAI_CHAT.usage({ usage: { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...more } });

  test.each([
    ["plain", {}, { input: 10, output: 5 }],
    [
      "cached input is a part of the input",
      { prompt_tokens_details: { cached_tokens: 8 } },
      { input: 10, cache_read: 8, output: 5 },
    ],
    [
      "so is what was written",
      { prompt_tokens_details: { cached_tokens: 4, cache_write_tokens: 6 } },
      { input: 10, cache_read: 4, cache_write: 6, output: 5 },
    ],
    [
      "sound",
      { prompt_tokens_details: { audio_tokens: 3 }, completion_tokens_details: { audio_tokens: 2 } },
      { input: 10, input_audio: 3, output: 5, output_audio: 2 },
    ],
    [
      "thinking inside the output",
      { completion_tokens_details: { reasoning_tokens: 4 } },
      { input: 10, output: 5, reasoning: 4 },
    ],
    [
      "thinking in the total alone",
      { total_tokens: 35, completion_tokens_details: { reasoning_tokens: 20 } },
      { input: 10, output: 25, reasoning: 20 },
    ],
    [
      "thinking in the details alone",
      { completion_tokens_details: { reasoning_tokens: 20 } },
      { input: 10, output: 25, reasoning: 20 },
    ],
    ["no details", { prompt_tokens_details: null, completion_tokens_details: null }, { input: 10, output: 5 }],
    ["no total", { total_tokens: null }, { input: 10, output: 5 }],
  ])("%s", (_what, more, counts) => {
    expect(usage(more)).toEqual(counts);
  });

  test("of figures that cannot be true there is none", () => {
    for (const value of ABSURD) {
      expect(usage({ prompt_tokens: value })).toBeNull();
      expect(usage({ completion_tokens: value })).toBeNull();
      expect(usage({ prompt_tokens_details: { cached_tokens: value } })).toBeNull();
      expect(usage({ completion_tokens_details: { reasoning_tokens: value } })).toBeNull();
    }
    expect(usage({ prompt_tokens_details: { cached_tokens: 11 } })).toBeNull();
    expect(usage({ prompt_tokens_details: { cached_tokens: 6, cache_write_tokens: 5 } })).toBeNull();
    expect(usage({ completion_tokens_details: { audio_tokens: 6 } })).toBeNull();
    expect(usage({ prompt_tokens: 2 ** 53 - 1, completion_tokens: 2 })).toBeNull();
  });

  test("nobody counts nothing for a request", () => {
    expect(usage({ prompt_tokens: 0 })).toBeNull();
    expect(OPENAI_CHAT.usage({})).toBeNull();
    expect(OPENAI_CHAT.usage({ usage: "lots" })).toBeNull();
  });
});

describe("usage of a response", () => {
  test("has the same figures under other names", () => {
    const usage = {
      input_tokens: 10,
      input_tokens_details: { cached_tokens: 6, cache_write_tokens: 2 },
      output_tokens: 5,
      output_tokens_details: { reasoning_tokens: 3 },
      total_tokens: 15,
    };

    expect(OPENAI_RESPONSES.usage({ usage })).toEqual({
      input: 10,
      cache_read: 6,
      cache_write: 2,
      output: 5,
      reasoning: 3,
    });
    expect(OPENAI_RESPONSES.usage({ usage: null })).toBeNull();
    for (const value of ABSURD) expect(OPENAI_RESPONSES.usage({ usage: { ...usage, input_tokens: value } })).toBeNull();
  });
});

describe("usage of a message", () => {
  const usage = (more: Record<string, Json>) =>
    ANTHROPIC_MESSAGES.usage({ usage: { input_tokens: 10, output_tokens: 5, ...more } });

  test.each([
    ["plain", {}, { input: 10, output: 5 }],
    [
      "what caches did comes on top",
      { cache_read_input_tokens: 100, cache_creation_input_tokens: 20 },
      { input: 130, cache_read: 100, cache_write: 20, output: 5 },
    ],
    [
      "both lifetimes",
      {
        cache_creation_input_tokens: 20,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
      },
      { input: 30, cache_write: 5, cache_write_1h: 15, output: 5 },
    ],
    [
      "parts without a sum",
      { cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 } },
      { input: 30, cache_write: 5, cache_write_1h: 15, output: 5 },
    ],
    [
      "a sum above its parts goes to the dearer one",
      {
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 5, ephemeral_1h_input_tokens: 15 },
      },
      { input: 40, cache_write: 5, cache_write_1h: 25, output: 5 },
    ],
    ["thinking", { output_tokens_details: { thinking_tokens: 4 } }, { input: 10, output: 5, reasoning: 4 }],
    [
      "nulls",
      { cache_read_input_tokens: null, cache_creation_input_tokens: null, cache_creation: null },
      { input: 10, output: 5 },
    ],
    [
      "all input from the cache",
      { input_tokens: 0, cache_read_input_tokens: 7 },
      { input: 7, cache_read: 7, output: 5 },
    ],
  ])("%s", (_what, more, counts) => {
    expect(usage(more)).toEqual(counts);
  });

  test("of figures that cannot be true there is none", () => {
    for (const value of ABSURD) {
      expect(usage({ input_tokens: value })).toBeNull();
      expect(usage({ output_tokens: value })).toBeNull();
      expect(usage({ cache_read_input_tokens: value })).toBeNull();
      expect(usage({ cache_creation: { ephemeral_1h_input_tokens: value } })).toBeNull();
    }
    expect(usage({ output_tokens_details: { thinking_tokens: 6 } })).toBeNull();
    expect(usage({ input_tokens: 0 })).toBeNull();
    expect(ANTHROPIC_MESSAGES.usage({})).toBeNull();
  });
});
