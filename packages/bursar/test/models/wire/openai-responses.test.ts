import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { InputError } from "../../../src/core/errors.js";
import { OPENAI_RESPONSES } from "../../../src/models/wire/openai-responses.js";
import type { WireRequest } from "../../../src/models/wire/protocol.js";
import { UnboundedError } from "../../../src/models/wire/unbounded-error.js";

const HELLO: JsonObject = { model: "gpt-4o", input: "hello" };

function read(more: JsonObject = {}, compatible = false): WireRequest {
  const body = { ...HELLO, ...more };
  return OPENAI_RESPONSES.read(body, { bytes: Buffer.byteLength(JSON.stringify(body)), compatible });
}

const items = (...input: JsonObject[]): JsonObject => ({ input });
const user = (...content: JsonObject[]): JsonObject => items({ role: "user", content });

function above(more: JsonObject): number {
  return read(more).input_tokens - Buffer.byteLength(JSON.stringify({ ...HELLO, ...more }));
}

describe("a response", () => {
  test("is held to a limit, and the provider takes none below 16", () => {
    expect(read()).toMatchObject({ output_tokens: null, least_output: 16, answers: 1, stream: false });
    expect(read().held(50)).toEqual({ ...HELLO, max_output_tokens: 50, service_tier: "default" });
    expect(read({ max_output_tokens: 20 }, true).held(50)).toEqual({ ...HELLO, max_output_tokens: 20 });
    expect(read({ max_output_tokens: 200 }, true).held(50)).toEqual({ ...HELLO, max_output_tokens: 50 });
    expect(read({ max_output_tokens: 200 })).toMatchObject({ output_tokens: 200 });
  });

  test("may think without showing it, unless it is told not to", () => {
    expect(read({ model: "gpt-5" }).hidden).toBe(true);
    expect(read({ model: "gpt-5", reasoning: { effort: "none" } }).hidden).toBe(false);
    expect(read({ model: "gpt-5", reasoning: { effort: "none" } }, true).hidden).toBe(true);
    expect(read({ model: "gpt-5.6" }).caches).toBe("5m");
    expect(read().caches).toBe("no");
  });

  test("takes in texts from all kinds of items", () => {
    const { texts } = read({
      instructions: "one",
      ...items(
        { role: "user", content: "two" },
        { type: "message", role: "user", content: [{ type: "input_text", text: "three" }] },
        {
          type: "message",
          role: "assistant",
          content: [
            { type: "output_text", text: "four" },
            { type: "refusal", refusal: "five" },
          ],
        },
        { type: "function_call", call_id: "c", name: "f", arguments: "six" },
        { type: "function_call_output", call_id: "c", output: "seven" },
        { type: "custom_tool_call", call_id: "d", name: "g", input: "eight" },
        { type: "custom_tool_call_output", call_id: "d", output: [{ type: "input_text", text: "nine" }] },
        { type: "reasoning", id: "r", summary: [], encrypted_content: "sealed" },
        { type: "reasoning", id: "r", summary: [], content: [{ type: "reasoning_text", text: "ten" }] },
        { type: "apply_patch_call_output", call_id: "e", status: "completed", output: "by its bytes" },
      ),
    });

    expect(texts?.pieces.join(" ")).toBe("one two three four five six seven eight nine ten");
  });

  test.each([
    ["by address", { image_url: "https://example.test/a.png", detail: "auto" }, 1_445 - 26],
    ["by file", { file_id: "file-1", detail: "high" }, 1_445],
    ["of low detail", { file_id: "file-1", detail: "low" }, 1_445],
  ])("an image %s has its figure", (_what, image, tokens) => {
    expect(above(user({ type: "input_image", ...image }))).toBe(64 + tokens);
    expect(above(items({ type: "function_call_output", output: [{ type: "input_image", ...image }] }))).toBe(
      64 + tokens,
    );
    expect(above(items({ type: "computer_call_output", output: { type: "computer_screenshot", ...image } }))).toBe(
      64 + tokens,
    );
  });

  test("a message between agents is bounded by its bytes", () => {
    const content = [{ type: "input_text", text: "Look there." }];
    const message = items({ type: "agent_message", author: "a", recipient: "b", content });
    expect(read(message)).toMatchObject({ beyond: null, texts: { pieces: expect.arrayContaining(["Look there."]) } });
    expect(above(message)).toBe(64);
  });

  test.each([
    ["an earlier response", { previous_response_id: "resp_1" }, "previous_response_id"],
    ["a conversation", { conversation: "conv_1" }, "a conversation"],
    ["a reference", items({ type: "item_reference", id: "msg_1" }), '"item_reference"'],
    ["a reference without a type", items({ id: "msg_1" }), "input[0]"],
    ["kept thoughts", items({ type: "reasoning", id: "rs_1", summary: [] }), "what was thought"],
    ["a compacted conversation", items({ type: "compaction", encrypted_content: "x" }), '"compaction"'],
    ["a file", user({ type: "input_file", file_id: "file-1" }), '"input_file"'],
    ["a PDF in the body", user({ type: "input_file", file_data: "data:application/pdf;base64,AA" }), '"input_file"'],
    [
      "a sealed message",
      items({ type: "agent_message", content: [{ type: "encrypted_content" }] }),
      "encrypted_content",
    ],
    ["what a hosted tool has found", items({ type: "web_search_call", id: "ws_1" }), '"web_search_call"'],
  ])("%s is of unknown size", (_what, more, beyond) => {
    expect(read(more).beyond).toContain(beyond);
    expect(read(more).texts).toBeNull();
  });

  test("tools that the caller runs are fine, and those that the provider describes take more", () => {
    const own = [
      { type: "function", name: "f" },
      { type: "custom", name: "g" },
    ];
    const described = [
      { type: "local_shell" },
      { type: "apply_patch" },
      { type: "computer" },
      { type: "shell", environment: { type: "local" } },
      { type: "tool_search", execution: "client" },
    ];

    expect(above({ tools: own })).toBe(64 + 1_024);
    expect(above({ tools: [...own, ...described] })).toBe(64 + 1_024 + 5 * 4_096);
    expect(above({ tools: [{ type: "namespace", name: "n", tools: own }] })).toBe(64 + 2 * 1_024);
  });

  test.each([
    "web_search_preview",
    "code_interpreter",
    "image_generation",
    "mcp",
    "shell",
    "programmatic_tool_calling",
    "tool_search",
    "something_new",
  ])("the tool %s is refused by its name, wherever it stands", (type) => {
    for (const more of [
      { tools: [{ type }] },
      { tools: [{ type: "namespace", name: "n", tools: [{ type }] }] },
      items({ type: "additional_tools", role: "developer", tools: [{ type }] }),
      items({ type: "tool_search_output", tools: [{ type }] }),
    ]) {
      expect(() => read(more)).toThrow(UnboundedError);
      expect(() => read(more)).toThrow(type);
    }
  });

  test.each(["web_search", "file_search"])(
    "the tool %s is priced by its uses, and refused where it joins later",
    (type) => {
      expect(read({ tools: [{ type }] }).hosted).toMatchObject({ uses: null });
      expect(read({ tools: [{ type }], max_tool_calls: 3 }).hosted).toMatchObject({ uses: 3 });
      expect(() => read(items({ type: "additional_tools", role: "developer", tools: [{ type }] }))).toThrow(type);
      expect(() => read(items({ type: "tool_search_output", tools: [{ type }] }))).toThrow(type);
      expect(() => read({ tools: [{ type }], max_tool_calls: "many" })).toThrow(InputError);
    },
  );

  test.each([
    ["background", { background: true }],
    ["prompt", { prompt: { id: "pmpt_1" } }],
    ["context_management", { context_management: [{ type: "compaction" }] }],
    ["service_tier", { service_tier: "priority" }],
    ["model", { model: "o3-deep-research" }],
    ["input[0]", items({ type: "compaction_trigger" })],
    ["tools[0]", { tools: [{ type: "shell", environment: { type: "container_auto" } }] }],
  ])("%s cannot be bounded", (field, more) => {
    expect(() => read(more)).toThrow(UnboundedError);
    expect(() => read(more)).toThrow(expect.objectContaining({ field }));
  });

  test("what is said to be off is no reason", () => {
    const off = {
      background: false,
      prompt: null,
      context_management: [],
      conversation: null,
      previous_response_id: null,
    };

    expect(read(off)).toMatchObject({ beyond: null });
  });

  test.each([
    ["model", { model: null }],
    ["input", { input: 5 }],
    ["input[0]", { input: ["hello"] }],
    ["input[0].content[0].text", user({ type: "input_text" })],
    ["input[0].arguments", items({ type: "function_call", arguments: {} })],
    ["input[0].output", items({ type: "function_call_output", output: 5 })],
    ["instructions", { instructions: ["a"] }],
    ["max_output_tokens", { max_output_tokens: "many" }],
    ["background", { background: "yes" }],
    ["stream", { stream: 1 }],
    ["tools", { tools: "all" }],
  ])("%s cannot be read", (field, more) => {
    expect(() => read(more as JsonObject)).toThrow(InputError);
    expect(() => read(more as JsonObject)).toThrow(expect.objectContaining({ field }));
  });
});

describe("what the provider keeps", () => {
  const usage = { input_tokens: 300, output_tokens: 40, total_tokens: 340 };
  const read = (more: JsonObject) =>
    OPENAI_RESPONSES.read({ model: "gpt-5", input: "Go on.", ...more }, { bytes: 200, compatible: false });

  test("is bounded by what it was when it came by, and by nothing but the window otherwise", () => {
    OPENAI_RESPONSES.usage({ id: "resp_kept", output: [{ id: "msg_kept" }, { id: "rs_kept" }], usage });
    const base = read({}).input_tokens;
    const known = read({ previous_response_id: "resp_kept" });
    expect([known.beyond, known.input_tokens - base]).toEqual([null, 340]);
    const input = [
      { type: "item_reference", id: "msg_kept" },
      { type: "reasoning", id: "rs_kept", summary: [] },
    ];
    expect([read({ input }).beyond, read({ input }).input_tokens - base]).toEqual([null, 80]);
    expect(read({ previous_response_id: "resp_other" }).beyond).toContain("previous_response_id");
    expect(read({ input: [{ type: "item_reference", id: "msg_other" }] }).beyond).toContain("item_reference");
  });
});
