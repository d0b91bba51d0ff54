import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { Budget } from "../../../src/prompt/budget.js";
import type { PromptMessage } from "../../../src/prompt/message.js";
import type { Tool } from "../../../src/prompt/tool.js";
import type { ScriptedText } from "../../../src/testing/scripted/answer.js";
import { failureOf } from "../scripted.js";
import { CHAT, calls, MESSAGES, RESPONSES, says, scene, streamed, type TestedWire, WIRES } from "./wires.js";

const SCHEMA = { type: "object", properties: { about: { type: "string" } }, required: ["about"] };
const ANY = { type: "object", properties: {} };
const TOOLS: readonly Tool[] = [
  { name: "look", description: "Looks something up.", inputSchema: SCHEMA, handler: () => "a lot" },
  { name: "count", handler: () => ({ found: 3 }) },
];
const EARLIER: readonly PromptMessage[] = [
  { role: "system", content: "Be brief." },
  { role: "user", content: "What do you know?" },
  { role: "assistant", content: "Let me see.", toolCalls: [{ id: "call_a", name: "look", input: { about: "it" } }] },
  { role: "tool", toolCallId: "call_a", name: "look", content: "something" },
  { role: "assistant", content: "", toolCalls: [{ id: "call_b", name: "count", input: {} }] },
  { role: "tool", toolCallId: "call_b", name: "count", content: "7" },
  { role: "assistant", content: "Seven things." },
  { role: "user", content: "And now?" },
];
/** Two tools at once, then the end. */
const TWO_TOOLS: readonly ScriptedText[] = [
  { ...calls(["look", "count"], 100, 20), text: "I will look." },
  says("Done.", 200, 10),
];

describe.each([false, true])("streamed: %s", (stream) => {
  const at = (wire: TestedWire) => (stream ? streamed(wire) : wire);
  const streaming = stream ? { stream: true } : {};

  test("a conversation in Chat Completions", async () => {
    await using here = await scene(at(CHAT), TWO_TOOLS, { parameters: { temperature: 0 } });

    await here.adapter.evaluate({ name: "talk", messages: EARLIER, tools: TOOLS });

    const call = (id: string, name: string, input: object) => ({
      id,
      type: "function",
      function: { name, arguments: JSON.stringify(input) },
    });
    const messages = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What do you know?" },
      { role: "assistant", content: "Let me see.", tool_calls: [call("call_a", "look", { about: "it" })] },
      { role: "tool", tool_call_id: "call_a", content: "something" },
      { role: "assistant", content: null, tool_calls: [call("call_b", "count", {})] },
      { role: "tool", tool_call_id: "call_b", content: "7" },
      { role: "assistant", content: "Seven things." },
      { role: "user", content: "And now?" },
    ];
    const common = {
      model: "scripted",
      temperature: 0,
      max_tokens: 4_096,
      ...streaming,
      ...(stream && { stream_options: { include_usage: true } }),
      tools: [
        { type: "function", function: { name: "look", description: "Looks something up.", parameters: SCHEMA } },
        { type: "function", function: { name: "count", parameters: ANY } },
      ],
    };
    const made = [call("call_1_0", "look", { about: "look" }), call("call_1_1", "count", { about: "count" })];
    expect(here.bodies).toEqual([
      { ...common, messages },
      {
        ...common,
        messages: [
          ...messages,
          { role: "assistant", content: "I will look.", tool_calls: made },
          { role: "tool", tool_call_id: "call_1_0", content: "a lot" },
          { role: "tool", tool_call_id: "call_1_1", content: '{"found":3}' },
        ],
      },
    ]);
    expect(here.server.requests[0]?.headers).toMatchObject({ authorization: "Bearer sk-test-secret" });
  });

  test("a conversation in Responses", async () => {
    await using here = await scene(at(RESPONSES), TWO_TOOLS, { parameters: { temperature: 0 } });

    await here.adapter.evaluate({ name: "talk", messages: EARLIER, tools: TOOLS });

    const call = (call_id: string, name: string, input: object) => ({
      type: "function_call",
      call_id,
      name,
      arguments: JSON.stringify(input),
    });
    const output = (call_id: string, text: string) => ({ type: "function_call_output", call_id, output: text });
    const input = [
      { role: "system", content: "Be brief." },
      { role: "user", content: "What do you know?" },
      { role: "assistant", content: "Let me see." },
      call("call_a", "look", { about: "it" }),
      output("call_a", "something"),
      call("call_b", "count", {}),
      output("call_b", "7"),
      { role: "assistant", content: "Seven things." },
      { role: "user", content: "And now?" },
    ];
    const common = {
      model: "scripted",
      temperature: 0,
      max_output_tokens: 4_096,
      store: false,
      ...streaming,
      include: ["reasoning.encrypted_content"],
      tools: [
        { type: "function", name: "look", description: "Looks something up.", parameters: SCHEMA, strict: false },
        { type: "function", name: "count", parameters: ANY, strict: false },
      ],
    };
    expect(here.bodies).toEqual([
      { ...common, input },
      {
        ...common,
        input: [
          ...input,
          { role: "assistant", content: "I will look." },
          call("call_1_0", "look", { about: "look" }),
          call("call_1_1", "count", { about: "count" }),
          output("call_1_0", "a lot"),
          output("call_1_1", '{"found":3}'),
        ],
      },
    ]);
  });

  test("a conversation in Messages", async () => {
    await using here = await scene(at(MESSAGES), TWO_TOOLS, { parameters: { temperature: 0 } });

    await here.adapter.evaluate({ name: "talk", messages: EARLIER, tools: TOOLS });

    const use = (id: string, name: string, input: object) => ({ type: "tool_use", id, name, input });
    const result = (tool_use_id: string, content: string) => ({ type: "tool_result", tool_use_id, content });
    const caller = { type: "direct" };
    const messages = [
      { role: "user", content: "What do you know?" },
      { role: "assistant", content: [{ type: "text", text: "Let me see." }, use("call_a", "look", { about: "it" })] },
      { role: "user", content: [result("call_a", "something")] },
      { role: "assistant", content: [use("call_b", "count", {})] },
      { role: "user", content: [result("call_b", "7")] },
      { role: "assistant", content: [{ type: "text", text: "Seven things." }] },
      { role: "user", content: "And now?" },
    ];
    const common = {
      model: "scripted",
      temperature: 0,
      max_tokens: 4_096,
      system: "Be brief.",
      ...streaming,
      tools: [
        { name: "look", description: "Looks something up.", input_schema: SCHEMA },
        { name: "count", input_schema: ANY },
      ],
    };
    const made = [
      { type: "text", text: "I will look." },
      { ...use("toolu_1_0", "look", { about: "look" }), caller },
      { ...use("toolu_1_1", "count", { about: "count" }), caller },
    ];
    expect(here.bodies).toEqual([
      { ...common, messages },
      {
        ...common,
        messages: [
          ...messages,
          { role: "assistant", content: made },
          { role: "user", content: [result("toolu_1_0", "a lot"), result("toolu_1_1", '{"found":3}')] },
        ],
      },
    ]);
    const { headers } = here.server.requests[0] ?? {};
    expect(headers).toMatchObject({ "x-api-key": "sk-test-secret", "anthropic-version": "2023-06-01" });
    expect(headers).not.toHaveProperty("authorization");
  });

  test("what Anthropic's models think goes back with the seal it came with", async () => {
    const thinking = { type: "enabled", budget_tokens: 2_000 };
    await using here = await scene(
      at(MESSAGES),
      [{ ...calls("count", 100, 60), thinking: "Hm, hm." }, says("3", 90, 5)],
      {
        maxOutputTokens: 3_000,
        parameters: { thinking },
      },
    );

    const { text } = await here.adapter.evaluate({ name: "think", text: "How many?", tools: TOOLS });

    const [, second = {}] = here.bodies;
    expect(text).toBe("3");
    expect((second.messages as JsonObject[])[1]?.content).toMatchObject([
      { type: "thinking", thinking: "Hm, hm.", signature: Buffer.from("scripted thinking 1").toString("base64") },
      { type: "tool_use", name: "count" },
    ]);
    expect(second).toMatchObject({ thinking, max_tokens: 3_000 });
  });

  test("what OpenAI's models think goes back with the seal it came with", async () => {
    await using here = await scene(at(RESPONSES), [{ ...calls("count", 100, 60), thinking: "Hm." }, says("3", 90, 5)]);

    const { text } = await here.adapter.evaluate({ name: "think", text: "How many?", tools: TOOLS });

    expect(text).toBe("3");
    expect(here.bodies[1]?.input).toMatchObject([
      { role: "user" },
      { type: "reasoning", summary: [], encrypted_content: Buffer.from("scripted thinking rs_1").toString("base64") },
      { type: "function_call", name: "count" },
      { type: "function_call_output" },
    ]);
  });

  test("the budget for thinking is cut with the output, and what would leave none is not sent", async () => {
    const parameters = { thinking: { type: "enabled", budget_tokens: 4_000 } };
    await using here = await scene(at(MESSAGES), [says("Hello.", 40, 5)], { maxOutputTokens: 8_000, parameters });
    const limited = (output: number) => new Budget({ tokenLimit: { input: null, output } });

    await here.adapter.evaluate({ name: "think", text: "Hello?" }, { budget: limited(2_000) });
    const error = await failureOf(here.adapter.evaluate({ name: "think", text: "Hello?" }, { budget: limited(1_024) }));

    expect(here.bodies).toMatchObject([{ max_tokens: 2_000, thinking: { budget_tokens: 1_999 } }]);
    expect(error).toMatchObject({ phase: "budget", dimension: "output" });
  });
});

describe.each(WIRES)("$name", (wire) => {
  test("an answer that is cut or held back says so", async () => {
    await using at = await scene(
      wire,
      [
        "a text that is much longer than the sixteen tokens which it is allowed to have here, and so it ends early",
        { kind: "text", text: "No", filtered: true },
      ],
      { maxOutputTokens: 16 },
    );

    const cut = await at.adapter.evaluate({ name: "long", text: "Tell me." });
    const held = await at.adapter.evaluate({ name: "bad", text: "Tell me." });

    expect(cut).toMatchObject({
      ending: "length",
      text: "a text that is much longer than the sixteen tokens which it is a",
    });
    expect(held).toMatchObject({ ending: "filtered", text: "No" });
  });

  test("a tool whose schema is none is a mistake that is told before anything is sent", async () => {
    await using at = await scene(wire, ["never"]);
    const tools: readonly Tool[] = [{ name: "look", inputSchema: "about", handler: () => 1 }];

    const error = await failureOf(at.adapter.evaluate({ name: "typo", text: "Hello?", tools }));

    expect(error).toMatchObject({
      phase: "request",
      cause: { message: expect.stringContaining("tool look: inputSchema") },
    });
    expect(at.server.count).toBe(0);
  });

  test("long input of several tools arrives whole, and goes back whole", async () => {
    const inputs = [1, 2].map((number) => ({ number, about: "Grüße, 世界! ".repeat(20), list: [{ deep: [number] }] }));
    const tool_calls = inputs.map((input) => ({ name: "look", arguments: input }));
    await using at = await scene(wire, [{ kind: "text", text: "", tool_calls }, "Done."]);
    const seen: unknown[] = [];
    const tools: readonly Tool[] = [{ name: "look", handler: (input) => seen.push(input) }];

    const { text } = await at.adapter.evaluate({ name: "long", text: "Look.", tools });

    expect(text).toBe("Done.");
    expect(seen).toEqual(inputs);
    const sent = JSON.stringify(at.bodies[1]).replaceAll("\\", "");
    for (const input of inputs) expect(sent).toContain(JSON.stringify(input));
  });

  test("texts in any script arrive whole", async () => {
    const text = 'Grüße, 世界! 👩‍👩‍👧 \u2028 "quoted" \\ \n'.repeat(5);
    await using at = await scene(wire, [text]);

    const response = await at.adapter.evaluate({ name: "echo", text });

    expect(response.text).toBe(text);
    expect(at.server.requests[0]?.text).toBe(text);
  });
});

test("input of a tool that is no JSON is handed on as it is, and goes back as it came", async () => {
  const message = (id: string) => ({
    role: "assistant",
    content: null,
    tool_calls: [
      { id, type: "function", function: { name: "look", arguments: "{about: it}" }, extra_content: { seal: id } },
      { id: `${id}2`, type: "function", function: { name: "look", arguments: "" } },
    ],
  });
  const usage = { prompt_tokens: 10, completion_tokens: 5 };
  // Some servers count their calls anew with each answer.
  const garbage = (seal: string) =>
    JSON.stringify({ choices: [{ message: { ...message("call_0"), seal }, finish_reason: "tool_calls" }], usage });
  await using at = await scene(CHAT, [
    { kind: "garbage", body: garbage("one") },
    { kind: "garbage", body: garbage("two") },
    "Done.",
  ]);
  const inputs: unknown[] = [];
  const tools: readonly Tool[] = [{ name: "look", handler: (input) => inputs.push(input) }];

  await at.adapter.evaluate({ name: "odd", text: "Hello?", tools });

  expect(inputs).toEqual(["{about: it}", {}, "{about: it}", {}]);
  const sent = at.bodies[2]?.messages as JsonObject[];
  expect([sent[1], sent[4]]).toEqual([message("call_0"), message("call_0")]);
});

test("input of a tool that is no JSON goes back to Anthropic in a form that it takes", async () => {
  const events = [
    { type: "message_start", message: { usage: { input_tokens: 10, output_tokens: 1 } } },
    {
      type: "content_block_start",
      index: 0,
      content_block: { type: "tool_use", id: "toolu_a", name: "look", input: {} },
    },
    { type: "content_block_delta", index: 0, delta: { type: "input_json_delta", partial_json: "{about: it}" } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 5 } },
    { type: "message_stop" },
  ];
  const body = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const script = [{ kind: "garbage", body, content_type: "text/event-stream" }, "Done."] as const;
  await using at = await scene(streamed(MESSAGES), script);
  const inputs: unknown[] = [];
  const tools: readonly Tool[] = [{ name: "look", handler: (input) => inputs.push(input) }];

  await at.adapter.evaluate({ name: "odd", text: "Hello?", tools });

  expect(inputs).toEqual(["{about: it}"]);
  expect(at.bodies[1]?.messages).toMatchObject([
    { role: "user" },
    { content: [{ type: "tool_use", id: "toolu_a", input: { invalid_json: "{about: it}" } }] },
    { role: "user" },
  ]);
});

test("an earlier tool call whose input Anthropic does not take is a mistake that is told", async () => {
  await using at = await scene(MESSAGES, ["never"]);
  const toolCalls = [{ id: "a", name: "look", input: [1] }];
  const messages: readonly PromptMessage[] = [{ role: "assistant", content: "", toolCalls }];

  const error = await failureOf(at.adapter.evaluate({ name: "odd", messages }));

  expect(error.cause).toMatchObject({ field: "messages[0].toolCalls[0].input" });
  expect(at.server.count).toBe(0);
});
