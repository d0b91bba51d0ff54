import type { Json, JsonObject } from "../../../src/core/chain/canonical.js";

/** One event of a trace: its name, and its data. */
export type TraceEvent = readonly [event: string, data: Json | "[DONE]"];

/** Writes a trace the way the providers do. */
export function written(trace: readonly TraceEvent[]): string {
  return trace.map(([event, data]) => `${event === "" ? "" : `event: ${event}\n`}data: ${dataOf(data)}\n\n`).join("");
}

export function dataOf(data: Json): string {
  return data === "[DONE]" ? data : JSON.stringify(data);
}

function chunk(choices: readonly JsonObject[], rest: JsonObject = {}): TraceEvent {
  const head = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1_760_000_000, model: "gpt-5-2025-08-07" };
  return ["", { ...head, service_tier: "default", system_fingerprint: "fp_1", choices, usage: null, ...rest }];
}

function delta(piece: JsonObject, finish_reason: string | null = null, index = 0): TraceEvent {
  return chunk([{ index, delta: piece, logprobs: null, finish_reason }], { obfuscation: "x7Gh" });
}

const CHAT_USAGE: JsonObject = {
  prompt_tokens: 120,
  completion_tokens: 40,
  total_tokens: 160,
  prompt_tokens_details: { cached_tokens: 64, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 30, audio_tokens: 0, accepted_prediction_tokens: 0 },
};

/** A text from Chat Completions, with usage at the end. */
export const CHAT_TEXT: readonly TraceEvent[] = [
  delta({ role: "assistant", content: "", refusal: null }),
  delta({ content: "Grüß" }),
  delta({ content: " Gott 👋" }),
  delta({}, "stop"),
  chunk([], { usage: CHAT_USAGE }),
  ["", "[DONE]"],
];

/** Two tools called at once. */
export const CHAT_TOOLS: readonly TraceEvent[] = [
  delta({
    role: "assistant",
    content: null,
    tool_calls: [{ index: 0, id: "call_a", type: "function", function: { name: "add", arguments: "" } }],
  }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '{"a":' } }] }),
  delta({ tool_calls: [{ index: 0, function: { arguments: "1}" } }] }),
  delta({ tool_calls: [{ index: 1, id: "call_b", type: "function", function: { name: "add", arguments: "" } }] }),
  delta({ tool_calls: [{ index: 1, function: { arguments: '{"a":2}' } }] }),
  delta({}, "tool_calls"),
  chunk([], { usage: CHAT_USAGE }),
  ["", "[DONE]"],
];

/** Two answers to one request, one after the other and mixed. */
export const CHAT_TWO: readonly TraceEvent[] = [
  delta({ role: "assistant", content: "" }, null, 0),
  delta({ content: "a" }, null, 0),
  delta({ role: "assistant", content: "" }, null, 1),
  delta({}, "stop", 0),
  delta({ content: "b" }, null, 1),
  delta({}, "stop", 1),
  chunk([], { usage: CHAT_USAGE }),
  ["", "[DONE]"],
];

function numbered(events: readonly JsonObject[]): readonly TraceEvent[] {
  return events.map((event, index) => [String(event.type), { ...event, sequence_number: index }]);
}

const RESPONSE: JsonObject = {
  id: "resp_1",
  object: "response",
  created_at: 1_760_000_000,
  status: "in_progress",
  background: false,
  error: null,
  incomplete_details: null,
  instructions: null,
  max_output_tokens: null,
  model: "gpt-5-2025-08-07",
  output: [],
  parallel_tool_calls: true,
  previous_response_id: null,
  reasoning: { effort: "medium", summary: "auto" },
  service_tier: "auto",
  store: true,
  temperature: 1,
  text: { format: { type: "text" } },
  tool_choice: "auto",
  tools: [],
  top_p: 1,
  truncation: "disabled",
  usage: null,
  user: null,
  metadata: {},
};

const RESPONSE_USAGE: JsonObject = {
  input_tokens: 200,
  input_tokens_details: { cached_tokens: 128, cache_write_tokens: 50 },
  output_tokens: 90,
  output_tokens_details: { reasoning_tokens: 64 },
  total_tokens: 290,
};

const THOUGHT: JsonObject = { id: "rs_1", type: "reasoning", summary: [{ type: "summary_text", text: "Hm, well." }] };
const SAID: JsonObject = {
  id: "msg_1",
  type: "message",
  status: "completed",
  role: "assistant",
  content: [{ type: "output_text", text: "Grüß Gott 👋", annotations: [], logprobs: [] }],
};
const CALL: JsonObject = {
  id: "fc_1",
  type: "function_call",
  status: "completed",
  call_id: "call_a",
  name: "add",
  arguments: '{"a":1}',
};
const CUSTOM: JsonObject = { id: "ct_1", type: "custom_tool_call", call_id: "call_b", name: "sql", input: "select 1" };
const SUMMARY = { item_id: "rs_1", output_index: 0, summary_index: 0 };
const TEXT = { item_id: "msg_1", output_index: 1, content_index: 0 };
const EMPTY_TEXT = { type: "output_text", text: "", annotations: [], logprobs: [] };

/** A response that thinks, says something, and calls a function and a tool of free form. */
export const RESPONSES: readonly TraceEvent[] = numbered([
  { type: "response.created", response: RESPONSE },
  { type: "response.in_progress", response: RESPONSE },
  { type: "response.output_item.added", output_index: 0, item: { id: "rs_1", type: "reasoning", summary: [] } },
  { type: "response.reasoning_summary_part.added", ...SUMMARY, part: { type: "summary_text", text: "" } },
  { type: "response.reasoning_summary_text.delta", ...SUMMARY, delta: "Hm,", obfuscation: "abc" },
  { type: "response.reasoning_summary_text.delta", ...SUMMARY, delta: " well." },
  { type: "response.reasoning_summary_text.done", ...SUMMARY, text: "Hm, well." },
  { type: "response.reasoning_summary_part.done", ...SUMMARY, part: { type: "summary_text", text: "Hm, well." } },
  { type: "response.output_item.done", output_index: 0, item: THOUGHT },
  { type: "response.output_item.added", output_index: 1, item: { ...SAID, status: "in_progress", content: [] } },
  { type: "response.content_part.added", ...TEXT, part: EMPTY_TEXT },
  { type: "response.output_text.delta", ...TEXT, delta: "Grüß", logprobs: [] },
  { type: "response.output_text.delta", ...TEXT, delta: " Gott 👋", logprobs: [] },
  { type: "response.output_text.done", ...TEXT, text: "Grüß Gott 👋", logprobs: [] },
  { type: "response.content_part.done", ...TEXT, part: { ...EMPTY_TEXT, text: "Grüß Gott 👋" } },
  { type: "response.output_item.done", output_index: 1, item: SAID },
  { type: "response.output_item.added", output_index: 2, item: { ...CALL, status: "in_progress", arguments: "" } },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: '{"a":' },
  { type: "response.function_call_arguments.delta", item_id: "fc_1", output_index: 2, delta: "1}" },
  { type: "response.function_call_arguments.done", item_id: "fc_1", output_index: 2, arguments: '{"a":1}' },
  { type: "response.output_item.done", output_index: 2, item: CALL },
  { type: "response.output_item.added", output_index: 3, item: { ...CUSTOM, input: "" } },
  { type: "response.custom_tool_call_input.delta", item_id: "ct_1", output_index: 3, delta: "select" },
  { type: "response.custom_tool_call_input.delta", item_id: "ct_1", output_index: 3, delta: " 1" },
  { type: "response.custom_tool_call_input.done", item_id: "ct_1", output_index: 3, input: "select 1" },
  { type: "response.output_item.done", output_index: 3, item: CUSTOM },
  {
    type: "response.completed",
    response: { ...RESPONSE, status: "completed", output: [THOUGHT, SAID, CALL, CUSTOM], usage: RESPONSE_USAGE },
  },
]);

function named(events: readonly JsonObject[]): readonly TraceEvent[] {
  return events.map((event) => [String(event.type), event]);
}

/** A message that thinks, says something and calls a tool, with a ping in between, and caches for both lifetimes. */
export const MESSAGE: readonly TraceEvent[] = named([
  {
    type: "message_start",
    message: {
      id: "msg_1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-5",
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: {
        input_tokens: 10,
        cache_creation_input_tokens: 300,
        cache_read_input_tokens: 1000,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        output_tokens: 2,
        service_tier: "standard",
      },
    },
  },
  { type: "content_block_start", index: 0, content_block: { type: "thinking", thinking: "", signature: "" } },
  { type: "ping" },
  { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm, well." } },
  { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "EqQBCgIYAhIM" } },
  { type: "content_block_stop", index: 0 },
  { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Grüß" } },
  { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: " Gott 👋" } },
  { type: "content_block_stop", index: 1 },
  { type: "content_block_start", index: 2, content_block: { type: "tool_use", id: "toolu_1", name: "add", input: {} } },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "" } },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: '{"a": ' } },
  { type: "content_block_delta", index: 2, delta: { type: "input_json_delta", partial_json: "1}" } },
  { type: "content_block_stop", index: 2 },
  {
    type: "message_delta",
    delta: { stop_reason: "tool_use", stop_sequence: null },
    usage: { input_tokens: 10, cache_creation_input_tokens: 300, cache_read_input_tokens: 1000, output_tokens: 88 },
  },
  { type: "message_stop" },
]);
