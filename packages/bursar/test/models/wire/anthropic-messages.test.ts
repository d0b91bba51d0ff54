import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { InputError } from "../../../src/core/errors.js";
import { ANTHROPIC_MESSAGES } from "../../../src/models/wire/anthropic-messages.js";
import type { WireRequest } from "../../../src/models/wire/protocol.js";
import { UnboundedError } from "../../../src/models/wire/unbounded-error.js";

const HELLO: JsonObject = {
  model: "claude-sonnet-4-5",
  max_tokens: 4_000,
  messages: [{ role: "user", content: "hello" }],
};

function read(more: JsonObject = {}, compatible = false): WireRequest {
  const body = { ...HELLO, ...more };
  return ANTHROPIC_MESSAGES.read(body, { bytes: Buffer.byteLength(JSON.stringify(body)), compatible });
}

const user = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: "user", content }] });
const CACHED = { cache_control: { type: "ephemeral" } };
const CACHED_1H = { cache_control: { type: "ephemeral", ttl: "1h" } };

function above(more: JsonObject): number {
  return read(more).input_tokens - Buffer.byteLength(JSON.stringify({ ...HELLO, ...more }));
}

describe("the limit of a message", () => {
  test("is lowered, never raised, and said where it was not", () => {
    expect(read()).toMatchObject({ output_tokens: 4_000, least_output: 1, answers: 1 });
    expect(read().held(50)).toEqual({ ...HELLO, max_tokens: 50 });
    expect(read().held(5_000)).toEqual(HELLO);
    expect(read({ max_tokens: null })).toMatchObject({ output_tokens: null });
    expect(read({ max_tokens: null }).held(50)).toEqual({ ...HELLO, max_tokens: 50 });
  });

  test("of 0 fills the cache and gives nothing back", () => {
    expect(read({ max_tokens: 0 })).toMatchObject({ output_tokens: 0, least_output: 0 });
    expect(read({ max_tokens: 0 }).held(50)).toMatchObject({ max_tokens: 0 });
  });

  test.each([
    ["stays where it fits", 3_000, 4_000, 3_500, 3_500, 3_000],
    ["is lowered below the limit", 3_000, 4_000, 2_000, 2_000, 1_999],
    ["is lowered when it would be the limit", 3_000, 4_000, 3_000, 3_000, 2_999],
    ["is not lowered below what the provider takes", 3_000, 4_000, 1_025, 1_025, 1_024],
    ["is left for the provider to refuse below that, rather than made up", 3_000, 4_000, 500, 500, 1_024],
    ["stays where the limit does, even above it", 9_000, 4_000, 4_000, 4_000, 9_000],
  ])("the budget for thinking %s", (_what, budget_tokens, max_tokens, to, limit, budget) => {
    const request = read({ max_tokens, thinking: { type: "enabled", budget_tokens, display: "omitted" } });

    expect(request.least_output).toBe(1_025);
    expect(request.held(to)).toMatchObject({
      max_tokens: limit,
      thinking: { type: "enabled", budget_tokens: budget, display: "omitted" },
    });
  });

  test.each([
    ["claude-sonnet-4-5", {}, false, false],
    ["claude-opus-4-1-20250805", {}, false, false],
    ["claude-sonnet-4-20250514", {}, false, false],
    ["anthropic/claude-3-5-haiku-latest", {}, true, false],
    ["claude-opus-4-7", {}, false, true],
    ["claude-opus-5-5", {}, false, true],
    ["claude-opus-5-5", { thinking: { type: "disabled" } }, false, false],
    ["claude-opus-5-5", { thinking: { type: "disabled" } }, true, true],
    ["claude-sonnet-4-5", { thinking: { type: "enabled", budget_tokens: 2_000 } }, false, true],
    ["claude-sonnet-4-5", { thinking: { type: "adaptive" } }, false, true],
    ["claude-sonnet-4-5", { thinking: { type: "between_tools" } }, false, true],
  ])("thinking of %s with %j is hidden or not", (model, more, compatible, hidden) => {
    expect(read({ model, ...more }, compatible).hidden).toBe(hidden);
  });
});

describe("the input of a message", () => {
  test("is texts alone where it is", () => {
    const { texts, beyond } = read({
      system: [{ type: "text", text: "one" }],
      ...user(
        { type: "text", text: "two" },
        { type: "tool_result", tool_use_id: "t", content: [{ type: "text", text: "three" }] },
        { type: "tool_result", tool_use_id: "t", content: "four" },
        { type: "search_result", source: "s", title: "t", content: [{ type: "text", text: "five" }] },
        { type: "document", source: { type: "text", media_type: "text/plain", data: "six" } },
        { type: "document", source: { type: "content", content: [{ type: "text", text: "seven" }] } },
        { type: "thinking", thinking: "by its bytes", signature: "x" },
        { type: "tool_use", id: "t", name: "f", input: { type: "image", source: "no image" } },
      ),
    });

    expect(texts?.pieces.join(" ")).toBe("one two three four five six seven");
    expect(beyond).toBeNull();
  });

  test.each([
    ["in the body", { type: "base64", media_type: "image/png", data: "AAAA" }, 4_996],
    ["in the body, and larger than its figure", { type: "base64", data: "A".repeat(6_000) }, 5_000 - 6_000],
    ["by address", { type: "url", url: "https://example.test/a.png" }, 5_000],
    ["by file", { type: "file", file_id: "file_1" }, 5_000],
  ])("an image %s", (_what, source, tokens) => {
    expect(above(user({ type: "image", source }))).toBe(64 + tokens);
    expect(above(user({ type: "tool_result", content: [{ type: "image", source }] }))).toBe(64 + tokens);
    expect(read(user({ type: "image", source }))).toMatchObject({ texts: null, beyond: null });
  });

  test.each([
    ["a PDF in the body", user({ type: "document", source: { type: "base64", data: "AA" } }), "the document in"],
    ["a PDF by address", user({ type: "document", source: { type: "url", url: "https://a.test" } }), "the document in"],
    ["a document by file", user({ type: "document", source: { type: "file", file_id: "f" } }), "the document in"],
    ["a file for a container", user({ type: "container_upload", file_id: "f" }), '"container_upload"'],
    ["what a hosted tool has found", user({ type: "web_search_tool_result", content: [] }), '"web_search_tool_result"'],
    ["a compacted conversation", user({ type: "compaction", content: "x" }), "the compacted conversation"],
    ["a thread", { thread: { type: "continue", previous_message_id: "msg_1" } }, "a thread"],
  ])("%s is of unknown size", (_what, more, beyond) => {
    expect(read(more).beyond).toContain(beyond);
  });

  test.each([
    ["nowhere", {}, "no"],
    ["at the top", CACHED, "5m"],
    ["on the system", { system: [{ type: "text", text: "a", ...CACHED_1H }] }, "1h"],
    ["on a block", user({ type: "text", text: "a", ...CACHED }), "5m"],
    [
      "on a block inside a result",
      user({ type: "tool_result", content: [{ type: "text", text: "a", ...CACHED }] }),
      "5m",
    ],
    ["on a tool", { tools: [{ name: "f", input_schema: {}, ...CACHED_1H }] }, "1h"],
    ["for both lifetimes", { ...CACHED_1H, ...user({ type: "text", text: "a", ...CACHED }) }, "1h"],
    ["said to be nothing", { cache_control: null }, "no"],
  ])("a cache is written to: %s", (_what, more, caches) => {
    expect(read(more).caches).toBe(caches);
  });

  test("tools that the caller runs are fine, and those that the provider describes take more", () => {
    expect(
      above({
        tools: [
          { name: "f", input_schema: {} },
          { type: "custom", name: "g" },
        ],
      }),
    ).toBe(64 + 1_024);
    expect(above({ tools: [{ type: "bash_20250124", name: "bash" }] })).toBe(64 + 1_024 + 4_096);
    expect(above({ tools: [{ type: "computer_toolset_20260801" }] })).toBe(64 + 1_024 + 16_384);
  });
});

describe("a message that cannot be bounded", () => {
  test.each([
    "code_execution_20250825",
    "tool_search_tool_regex_20251119",
    "advisor_20260301",
    "mcp_toolset",
    "something_new",
  ])("the tool %s", (type) => {
    const added = { type: "tool_addition", tool: { type: "tool_definition", definition: { type, name: "x" } } };
    for (const more of [
      { tools: [{ type, name: "x" }] },
      user(added),
      user({ type: "compaction", tool_changes: [added] }),
    ]) {
      expect(() => read(more)).toThrow(UnboundedError);
      expect(() => read(more)).toThrow(type);
    }
  });

  test.each(["web_search_20250305", "web_fetch_20250910"])("the tool %s, where it joins later", (type) => {
    const added = { type: "tool_addition", tool: { type: "tool_definition", definition: { type, name: "x" } } };
    expect(() => read(user(added))).toThrow(type);
    expect(read({ tools: [{ type, name: "x" }] }).hosted).toMatchObject({ uses: null });
    expect(() => read({ tools: [{ type, name: "x", max_uses: -1 }] })).toThrow(InputError);
  });

  test.each([
    ["mcp_servers", { mcp_servers: [{ type: "url", url: "https://example.test", name: "x" }] }],
    ["container", { container: "container_1" }],
    ["fallbacks", { fallbacks: "default" }],
    ["compaction", { compaction: { type: "summarize" } }],
    ["context_management", { context_management: { edits: [{ type: "compact_20260112" }] } }],
    ["context_management.compaction", { context_management: { compaction: {} } }],
    ["inference_geo", { inference_geo: "us" }],
    ["speed", { speed: "fast" }],
    ["service_tier", { service_tier: "priority" }],
    ["messages[0].content[0].tool", user({ type: "tool_addition", tool: { type: "mcp_toolset_reference" } })],
  ])("%s", (field, more) => {
    expect(() => read(more)).toThrow(UnboundedError);
    expect(() => read(more)).toThrow(expect.objectContaining({ field }));
  });

  test("what is said to be off, or makes nothing dearer, is no reason", () => {
    const off = {
      mcp_servers: [],
      container: null,
      inference_geo: "global",
      speed: "standard",
      service_tier: "standard_only",
    };
    const edits = { context_management: { edits: [{ type: "clear_tool_uses_20250919" }] } };

    expect(read({ ...off, ...edits }).beyond).toBeNull();
  });
});

describe("a message that cannot be read", () => {
  test.each([
    ["model", { model: ["claude"] }],
    ["max_tokens", { max_tokens: "many" }],
    ["max_tokens", { max_tokens: -5 }],
    ["messages", { messages: { role: "user" } }],
    ["messages[0]", { messages: [null] }],
    ["messages[0].content", { messages: [{ role: "user", content: 5 }] }],
    ["messages[0].content[0].text", user({ type: "text", text: null })],
    ["messages[0].content[0].source", user({ type: "image" })],
    ["system", { system: 5 }],
    ["context_management", { context_management: [{ type: "compaction", compact_threshold: 1000 }] }],
    ["context_management.edits", { context_management: { edits: { type: "compact_20260112" } } }],
    ["thinking", { thinking: "a lot" }],
    ["thinking.budget_tokens", { thinking: { type: "enabled" } }],
    ["thinking.budget_tokens", { thinking: { type: "enabled", budget_tokens: "2000" } }],
    ["stream", { stream: "true" }],
    ["tools", { tools: {} }],
  ])("%s", (field, more) => {
    expect(() => read(more as JsonObject)).toThrow(InputError);
    expect(() => read(more as JsonObject)).toThrow(expect.objectContaining({ field }));
  });
});
