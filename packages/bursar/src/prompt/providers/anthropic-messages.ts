import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { pathTo } from "../../models/chat/endpoint.js";
import { ANTHROPIC_MESSAGES } from "../../models/wire/anthropic-messages.js";
import { isObject, objectOf } from "../../models/wire/json-object.js";
import type { Ending, PromptMessage, ToolCall } from "../message.js";
import type { Answer, Conversation, Dialect } from "./dialect.js";
import { MessagesAssembly } from "./messages-assembly.js";
import { schemaOf } from "./tool-input.js";

const VERSION = "2023-06-01";
/** What is sent back of a turn. A call means nothing without the thinking that led to it, which is sealed. */
const KEPT: ReadonlySet<Json | undefined> = new Set(["text", "tool_use", "thinking", "redacted_thinking"]);
const CUT: ReadonlySet<Json | undefined> = new Set(["max_tokens", "model_context_window_exceeded"]);

/** Anthropic's Messages. */
export const MESSAGES_DIALECT: Dialect = {
  protocol: ANTHROPIC_MESSAGES,
  fields: ["messages", "system", "tools", "max_tokens"],
  // Some clients want the base with its version, and some without.
  path: (base) => pathTo(/\/(?:v1|messages)$/.test(base) ? base : `${base}/v1`, "/messages"),
  headers: (apiKey) => ({ "anthropic-version": VERSION, ...(apiKey !== null && { "x-api-key": apiKey }) }),
  write,
  read,
  assembly: () => new MessagesAssembly(),
};

function write({ messages, tools, turns }: Conversation): JsonObject {
  const system = messages.filter(({ role }) => role === "system").map(({ content }) => content);
  return {
    ...(system.length > 0 && { system: system.join("\n\n") }),
    messages: dialogue(messages, turns),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => {
        const { name, description } = tool;
        return { name, ...(description !== undefined && { description }), input_schema: schemaOf(tool) };
      }),
    }),
  };
}

/** All that tools have found after one turn has to stand in one message. */
function dialogue(messages: readonly PromptMessage[], turns: Conversation["turns"]): readonly JsonObject[] {
  const list: JsonObject[] = [];
  let results: JsonObject[] | null = null;
  for (const [index, message] of messages.entries()) {
    if (message.role === "system") continue;
    if (message.role === "tool") {
      if (results === null) {
        results = [];
        list.push({ role: "user", content: results });
      }
      results.push({ type: "tool_result", tool_use_id: message.toolCallId, content: message.content });
      continue;
    }
    results = null;
    if (message.role !== "assistant") list.push({ role: message.role, content: message.content });
    else {
      const content = turns.get(index) ?? blocksOf(message, index);
      // Nobody may send a message without content.
      if (content.length > 0) list.push({ role: "assistant", content });
    }
  }
  return list;
}

function blocksOf(message: Extract<PromptMessage, { role: "assistant" }>, index: number): readonly JsonObject[] {
  const { content, toolCalls = [] } = message;
  const text = content === "" ? [] : [{ type: "text", text: content }];
  const calls = toolCalls.map(({ id, name, input = {} }, place) => {
    if (isObject(input as Json)) return { type: "tool_use", id, name, input: input as JsonObject };
    const field = `messages[${index}].toolCalls[${place}].input`;
    throw new InputError(field, `is ${show(input)}; allowed: an object, which is all that this provider takes`);
  });
  return [...text, ...calls];
}

function read(body: JsonObject): Answer | null {
  const { content, stop_reason } = body;
  if (!Array.isArray(content)) return null;
  const toolCalls: ToolCall[] = [];
  const turn: JsonObject[] = [];
  let text = "";
  for (const block of (content as readonly Json[]).map(objectOf)) {
    if (KEPT.has(block.type) && block.text !== "") turn.push(sendable(block));
    if (block.type === "text" && typeof block.text === "string") text += block.text;
    if (block.type !== "tool_use") continue;
    const { id, name, input = {} } = block;
    if (typeof id !== "string" || typeof name !== "string") return null;
    toolCalls.push({ id, name, input });
  }
  return { text, toolCalls, ending: endingOf(stop_reason), turn };
}

/** A call may hold an input that is no JSON, and nothing but an object is taken back. */
function sendable(block: JsonObject): JsonObject {
  if (block.type !== "tool_use" || isObject(block.input)) return block;
  return { ...block, input: { invalid_json: block.input ?? null } };
}

function endingOf(reason: Json | undefined): Ending {
  if (CUT.has(reason)) return "length";
  return reason === "refusal" ? "filtered" : "whole";
}
