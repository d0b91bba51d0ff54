import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { InputError } from "../../../src/core/errors.js";
import { OPENAI_CHAT } from "../../../src/models/wire/openai-chat.js";
import type { WireRequest } from "../../../src/models/wire/protocol.js";
import { UnboundedError } from "../../../src/models/wire/unbounded-error.js";

const HELLO: JsonObject = { model: "gpt-4o", messages: [{ role: "user", content: "Grüß Gott" }] };

function read(more: JsonObject = {}, compatible = false): WireRequest {
  const body = { ...HELLO, ...more };
  return OPENAI_CHAT.read(body, { bytes: Buffer.byteLength(JSON.stringify(body)), compatible });
}

const user = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: "user", content }] });

/** How many tokens stand above the bytes of the body. */
function above(more: JsonObject): number {
  return read(more).input_tokens - Buffer.byteLength(JSON.stringify({ ...HELLO, ...more }));
}

describe("the limit of a completion", () => {
  test.each([
    ["none, at home", {}, false, { max_completion_tokens: 50 }],
    ["none, elsewhere", {}, true, { max_tokens: 50 }],
    [
      "none, elsewhere, for a model that knows the new spelling alone",
      { model: "openai/o3" },
      true,
      { max_completion_tokens: 50 },
    ],
    ["null", { max_tokens: null }, false, { max_tokens: null, max_completion_tokens: 50 }],
    ["the old one, above", { max_tokens: 100 }, false, { max_tokens: 50 }],
    ["the old one, below", { max_tokens: 10 }, false, { max_tokens: 10 }],
    ["the new one, above", { max_completion_tokens: 100 }, true, { max_completion_tokens: 50 }],
    ["both", { max_tokens: 100, max_completion_tokens: 20 }, true, { max_tokens: 50, max_completion_tokens: 20 }],
  ] as const)("%s", (_what, more, compatible, limits) => {
    const { max_tokens, max_completion_tokens } = read(more, compatible).held(50);

    expect({ max_tokens, max_completion_tokens }).toEqual({
      max_tokens: undefined,
      max_completion_tokens: undefined,
      ...limits,
    });
  });

  test("is the larger of both spellings, for each of all answers that are paid for", () => {
    expect(read()).toMatchObject({ output_tokens: null, answers: 1, least_output: 1 });
    expect(read({ max_tokens: 7 })).toMatchObject({ output_tokens: 7 });
    expect(read({ max_tokens: 7, max_completion_tokens: 9 })).toMatchObject({ output_tokens: 9 });
    expect(read({ n: 3 })).toMatchObject({ answers: 3 });
    expect(read({ n: 2, best_of: 5 })).toMatchObject({ answers: 5 });
  });

  test("everything else is sent as it came, and the caller's body stays as it was", () => {
    const body = { ...HELLO, top_p: 1, metadata: { deep: [1, "ü"] }, max_tokens: 100 };
    const before = structuredClone(body);

    const sent = OPENAI_CHAT.read(body, { bytes: 200, compatible: true }).held(5);

    expect(sent).toEqual({ ...before, max_tokens: 5 });
    expect(body).toEqual(before);
  });

  test("is never held to something that is no number", () => {
    for (const value of [Number.NaN, -1, 1.5, Number.POSITIVE_INFINITY])
      expect(() => read().held(value)).toThrow(InputError);
  });
});

describe("what a completion is asked for", () => {
  test("the tier of the table is told to the provider's own server alone", () => {
    expect(read().held(1).service_tier).toBe("default");
    expect(read({ service_tier: "auto" }).held(1).service_tier).toBe("default");
    expect(read({ service_tier: "flex" }).held(1).service_tier).toBe("flex");
    expect(read({}, true).held(1)).not.toHaveProperty("service_tier");
  });

  test.each([
    [{}, undefined, undefined],
    [{ stream: true }, { include_usage: true }, true],
    [{ stream: true, stream_options: null }, { include_usage: true }, true],
    [
      { stream: true, stream_options: { include_obfuscation: false, include_usage: false } },
      { include_obfuscation: false, include_usage: true },
      true,
    ],
    [{ stream: true, stream_options: { include_usage: true } }, { include_usage: true }, false],
  ])("usage of %j", (more, options, added = false) => {
    const request = read(more);

    expect(request.held(1).stream_options).toEqual(options);
    expect(request.usage_added).toBe(added);
    expect(request.stream).toBe("stream" in more);
  });

  test.each([
    ["gpt-4o", {}, false, false],
    ["openai/gpt-4.1-mini", {}, true, false],
    ["ft:gpt-3.5-turbo:acme", {}, false, false],
    ["gpt-5", {}, false, true],
    ["gpt-5.1", { reasoning_effort: "none" }, false, false],
    ["gpt-5.1", { reasoning_effort: "none" }, true, true],
    ["o3", {}, false, true],
    ["deepseek-reasoner", {}, true, true],
  ])("thinking of %s with %j is hidden or not", (model, more, compatible, hidden) => {
    expect(read({ model, ...more }, compatible).hidden).toBe(hidden);
  });

  test.each([
    ["gpt-4o", {}, false, "no"],
    ["gpt-5-2025-08-07", {}, false, "no"],
    ["gpt-5.5", {}, false, "no"],
    ["gpt-5.6-sol", {}, false, "5m"],
    ["gpt-5-6", {}, false, "5m"],
    ["openai/gpt-6-luna", {}, true, "5m"],
    ["something-new", {}, false, "5m"],
    ["something-new", {}, true, "no"],
    ["gpt-4o", { prompt_cache_retention: "24h" }, false, "5m"],
    ["gpt-4o", user({ type: "text", text: "a", prompt_cache_breakpoint: { mode: "explicit" } }), false, "5m"],
    ["anthropic/claude", user({ type: "text", text: "a", cache_control: { type: "ephemeral" } }), true, "5m"],
    [
      "anthropic/claude",
      user({ type: "text", text: "a", cache_control: { type: "ephemeral", ttl: "1h" } }),
      true,
      "1h",
    ],
    ["anthropic/claude", user({ type: "text", text: "a", cache_control: { ttl: "99d" } }), true, "1h"],
  ])("%s with %j may write to a cache or not", (model, more, compatible, caches) => {
    expect(read({ model, ...more }, compatible).caches).toBe(caches);
  });
});

describe("the input of a completion", () => {
  test("is the bytes of the body, and a little around them", () => {
    expect(above({})).toBe(64);
    expect(
      above({
        tools: [
          { type: "function", function: { name: "f" } },
          { type: "custom", custom: { name: "g" } },
        ],
      }),
    ).toBe(64 + 1024);
    expect(above({ functions: [{ name: "f" }] })).toBe(64 + 1024);
    expect(above({ tools: [], functions: [] })).toBe(64);
  });

  test("is texts alone where it is, and everything else counts by its bytes", () => {
    const call = { id: "c", type: "function", function: { name: "f", arguments: '{"a":1}' } };
    const messages = [
      { role: "system", content: "one" },
      { role: "user", content: [{ type: "text", text: "zwei ü\n" }] },
      { role: "assistant", content: null, refusal: "three", tool_calls: [call] },
      { role: "tool", tool_call_id: "c", content: "four" },
    ];

    const { texts, input_tokens } = read({ messages });

    expect(texts?.pieces).toEqual(["one", "zwei ü\n", "three", '{"a":1}', "four"]);
    const written = texts?.pieces.map((piece) => Buffer.byteLength(JSON.stringify(piece))) ?? [];
    expect(texts?.around).toBe(input_tokens - written.reduce((sum, each) => sum + each, 0));
  });

  test.each([
    ["an address, on a model with small tiles", "gpt-4o", { url: "https://example.test/a.png" }, 1_445 - 26],
    ["of low detail", "gpt-4o-mini", { url: "https://example.test/a.png", detail: "low" }, 2_833 - 26],
    ["on a model with dear tiles", "gpt-4o-mini", { url: "https://example.test/a.png" }, 48_169 - 26],
    ["on a model with patches", "gpt-5", { url: "https://example.test/a.png" }, 24_600 - 26],
    ["on a model nobody knows", "llava", { url: "https://example.test/a.png" }, 48_169 - 26],
    ["in the body, small", "gpt-4o", { url: "data:image/png;base64,AAAA" }, 1_445 - 26],
    [
      "in the body, and larger than its figure",
      "gpt-4o",
      { url: `data:image/png;base64,${"A".repeat(9_000)}` },
      1_445 - 9_022,
    ],
  ])("an image %s", (_what, model, image_url, tokens) => {
    const more = { model, ...user({ type: "image_url", image_url }) };

    expect(above(more)).toBe(64 + tokens);
    expect(read(more)).toMatchObject({ beyond: null, texts: null });
  });

  test("an image that weighs more than its figure counts by its bytes at servers that only speak like the provider", () => {
    const more = user({ type: "image_url", image_url: { url: `data:image/png;base64,${"A".repeat(9_000)}` } });

    expect(read(more, true).input_tokens - read(more).input_tokens).toBe(9_022 - 1_445);
  });

  test.each([
    ["a PDF in the body", { url: "data:application/pdf;base64,AAAA" }],
    ["a film behind an address", { url: "https://example.test/film.MP4?a=b.png" }],
    ["a film of a bucket", { url: "gs://bucket/film.mp4" }],
    ["a film of a page", { url: "https://www.youtube.com/watch?v=a" }],
    ["what says its format", { url: "https://example.test/a", format: "application/pdf" }],
    ["a file that the provider keeps", { url: "https://generativelanguage.googleapis.com/v1beta/files/a" }],
  ])("%s is no image for servers that only speak like the provider", (_what, image_url) => {
    const more = user({ type: "image_url", image_url });

    expect(read(more, true).beyond).toContain("the file in messages[0].content[0].image_url");
    expect(read(more).beyond).toBeNull();
  });

  test.each([
    "https://example.test/a.png",
    "https://example.test/a?b=c.pdf",
    "data:image/webp;base64,AAAA",
    "gs://bucket/a.jpeg",
    "AAAA",
  ])("%s is an image for them", (url) => {
    expect(read(user({ type: "image_url", image_url: url }), true).beyond).toBeNull();
  });

  test("sound is bounded by its bytes, and has prices of its own", () => {
    const more = user({ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } });

    expect(above(more)).toBe(64);
    expect(read(more)).toMatchObject({ audio: true, beyond: null, texts: null });
    expect(read({ modalities: ["text", "audio"] })).toMatchObject({ audio: true });
    expect(read({ audio: { voice: "ash", format: "mp3" } })).toMatchObject({ audio: true });
    expect(read({ modalities: ["text"] })).toMatchObject({ audio: false });
  });

  test.each([
    ["a file by its id", user({ type: "file", file: { file_id: "file-1" } }), "the file in messages[0].content[0]"],
    ["a PDF in the body", user({ type: "file", file: { file_data: "data:application/pdf;base64,AA" } }), "the file in"],
    ["a part nobody knows", user({ type: "video_url", video_url: { url: "https://example.test/v" } }), '"video_url"'],
    [
      "an answer in sound",
      { messages: [{ role: "assistant", audio: { id: "audio_1" } }] },
      "an earlier answer in sound",
    ],
  ])("%s is of unknown size", (_what, more, beyond) => {
    const request = read(more);

    expect(request.beyond).toContain(beyond);
    expect(request.texts).toBeNull();
  });
});

describe("a completion that cannot be bounded", () => {
  test.each([
    ["web_search_options", { web_search_options: {} }],
    ["search_parameters", { search_parameters: { mode: "on" } }],
    ["enable_search", { enable_search: true }],
    ["plugins", { plugins: [{ id: "web" }] }],
    ["models", { models: ["gpt-5-pro"] }],
    ["prediction", { prediction: { type: "content", content: "x" } }],
    ["service_tier", { service_tier: "priority" }],
    ["service_tier", { service_tier: "scale" }],
    ["speed", { speed: "fast" }],
    ["modalities", { modalities: ["text", "image"] }],
    ["model", { model: "gpt-4o-search-preview" }],
    ["model", { model: "openai/gpt-4o:online" }],
    ["tools[1]", { tools: [{ type: "function", function: { name: "f" } }, { type: "web_search" }] }],
    ["tools[0]", { tools: [{ name: "f" }] }],
  ])("%s", (field, more) => {
    const reading = () => read(more);

    expect(reading).toThrow(UnboundedError);
    expect(reading).toThrow(expect.objectContaining({ field, code: "unbounded" }));
  });

  test("what is said to be off is no reason", () => {
    const off = {
      web_search_options: null,
      enable_search: false,
      plugins: [],
      models: [],
      service_tier: null,
      speed: null,
    };

    expect(read(off).beyond).toBeNull();
  });
});

describe("a completion that cannot be read", () => {
  test.each([
    ["model", { model: 5 }],
    ["model", { model: "" }],
    ["model", { model: "x".repeat(600) }],
    ["messages", { messages: "hello" }],
    ["messages", { messages: null }],
    ["messages[0]", { messages: ["hello"] }],
    ["messages[0].content", { messages: [{ role: "user", content: 5 }] }],
    ["messages[0].content[0]", { messages: [{ role: "user", content: ["hello"] }] }],
    ["messages[0].content[0].text", user({ type: "text", text: 5 })],
    ["messages[0].content[0].image_url", user({ type: "image_url", image_url: { url: null } })],
    ["max_tokens", { max_tokens: "many" }],
    ["max_tokens", { max_tokens: -1 }],
    ["max_tokens", { max_tokens: 0 }],
    ["max_tokens", { max_tokens: 1.5 }],
    ["max_completion_tokens", { max_completion_tokens: [5] }],
    ["n", { n: 0 }],
    ["n", { n: 2 ** 40 }],
    ["best_of", { best_of: "2" }],
    ["stream", { stream: "yes" }],
    ["tools", { tools: {} }],
    ["tools[0]", { tools: ["web"] }],
    ["functions", { functions: {} }],
    ["modalities", { modalities: "text" }],
  ])("%s", (field, more) => {
    const reading = () => read(more as JsonObject);

    expect(reading).toThrow(InputError);
    expect(reading).toThrow(expect.objectContaining({ field }));
  });
});
