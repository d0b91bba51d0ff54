import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { bearer, pathTo } from "../../models/chat/endpoint.js";
import { isObject, listOf, objectOf } from "../../models/wire/json-object.js";
import { OPENAI_CHAT } from "../../models/wire/openai-chat.js";
import type { Ending, PromptMessage, ToolCall } from "../message.js";
import { ChatAssembly } from "./chat-assembly.js";
import type { Answer, Conversation, Dialect } from "./dialect.js";
import { inputIn, inputText, schemaOf } from "./tool-input.js";

/** OpenAI's Chat Completions, which most other servers speak too. */
export const CHAT_DIALECT: Dialect = {
  protocol: OPENAI_CHAT,
  fields: ["messages", "tools", "functions", "max_completion_tokens", "max_tokens", "n", "best_of"],
  path: (base) => pathTo(base, "/chat/completions"),
  headers: bearer,
  write,
  read,
  assembly: () => new ChatAssembly(),
};

function write({ messages, tools, turns }: Conversation): JsonObject {
  return {
    messages: messages.flatMap((message, index) => turns.get(index) ?? [written(message)]),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => {
        const { name, description } = tool;
        const about = { name, ...(description !== undefined && { description }), parameters: schemaOf(tool) };
        return { type: "function", function: about };
      }),
    }),
  };
}

function written(message: PromptMessage): JsonObject {
  if (message.role === "tool") return { role: "tool", tool_call_id: message.toolCallId, content: message.content };
  const { role, content } = message;
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  if (calls.length === 0) return { role, content };
  return { role, content: content === "" ? null : content, tool_calls: calls.map(writtenCall) };
}

function writtenCall({ id, name, input }: ToolCall): JsonObject {
  return { id, type: "function", function: { name, arguments: inputText(input) } };
}

function read(body: JsonObject): Answer | null {
  const { message, finish_reason } = objectOf(listOf(body.choices)[0]);
  if (!isObject(message)) return null;
  const calls = listOf(message.tool_calls);
  const toolCalls = calls.map(readCall);
  if (!toolCalls.every((call) => call !== null)) return null;
  const { content = null } = message;
  return {
    text: textOf(content) || (typeof message.refusal === "string" ? message.refusal : ""),
    toolCalls,
    ending: endingOf(finish_reason),
    // Other servers seal what was thought into the calls, and want to see it again.
    turn: [{ role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) }],
  };
}

function readCall(call: Json): ToolCall | null {
  const { id, function: named } = objectOf(call);
  const { name, arguments: input = "" } = objectOf(named);
  if (typeof id !== "string" || typeof name !== "string" || typeof input !== "string") return null;
  return { id, name, input: inputIn(input) };
}

/** Some servers answer with parts where OpenAI has a text. */
function textOf(content: Json): string {
  if (typeof content === "string") return content;
  return listOf(content)
    .map((part) => objectOf(part).text)
    .filter((text) => typeof text === "string")
    .join("");
}

function endingOf(reason: Json | undefined): Ending {
  if (reason === "length") return "length";
  return reason === "content_filter" ? "filtered" : "whole";
}
