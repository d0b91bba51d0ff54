import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { bearer, pathTo } from "../../models/chat/endpoint.js";
import { listOf, objectOf } from "../../models/wire/json-object.js";
import { openaiModel } from "../../models/wire/openai-models.js";
import { OPENAI_RESPONSES } from "../../models/wire/openai-responses.js";
import type { Ending, PromptMessage, ToolCall } from "../message.js";
import type { Answer, Conversation, Dialect } from "./dialect.js";
import { ResponsesAssembly } from "./responses-assembly.js";
import { inputIn, inputText, schemaOf } from "./tool-input.js";

/** OpenAI's Responses. Nothing is kept at the provider's, because nobody could bound what it adds to a request. */
export const RESPONSES_DIALECT: Dialect = {
  protocol: OPENAI_RESPONSES,
  fields: ["input", "tools", "max_output_tokens", "store"],
  path: (base) => pathTo(base, "/responses"),
  headers: bearer,
  write,
  read,
  assembly: () => new ResponsesAssembly(),
};

function write({ messages, tools, turns }: Conversation, { model }: { readonly model: string }): JsonObject {
  return {
    input: messages.flatMap((message, index) => turns.get(index) ?? written(message)),
    store: false,
    // What was thought comes back sealed, to be sent along with what tools have found. Other models refuse to be asked for it.
    ...(openaiModel(model).thinks && { include: ["reasoning.encrypted_content"] }),
    ...(tools.length > 0 && {
      tools: tools.map((tool) => {
        const { name, description } = tool;
        const about = { name, ...(description !== undefined && { description }), parameters: schemaOf(tool) };
        // Unless it is said, schemas have to be strict, and most are not.
        return { type: "function", ...about, strict: false };
      }),
    }),
  };
}

function written(message: PromptMessage): readonly JsonObject[] {
  if (message.role === "tool") {
    return [{ type: "function_call_output", call_id: message.toolCallId, output: message.content }];
  }
  const { role, content } = message;
  const calls = message.role === "assistant" ? (message.toolCalls ?? []) : [];
  const said = content === "" && calls.length > 0 ? [] : [{ role, content }];
  return [...said, ...calls.map(({ id, name, input }) => writtenCall(id, name, inputText(input)))];
}

/** Without the id it had at the provider's, where it is not kept. */
function writtenCall(call_id: string, name: string, input: string): JsonObject {
  return { type: "function_call", call_id, name, arguments: input };
}

function read(body: JsonObject): Answer | null {
  const { status, output, incomplete_details } = body;
  if (!Array.isArray(output) || (status !== "completed" && status !== "incomplete")) return null;
  const toolCalls: ToolCall[] = [];
  const turn: JsonObject[] = [];
  let text = "";
  for (const item of (output as readonly Json[]).map(objectOf)) {
    if (item.type === "message") {
      const said = textOf(item.content);
      text += said;
      if (said !== "") turn.push({ role: "assistant", content: said });
    } else if (item.type === "function_call") {
      const { call_id, name, arguments: input = "" } = item;
      if (typeof call_id !== "string" || typeof name !== "string" || typeof input !== "string") return null;
      toolCalls.push({ id: call_id, name, input: inputIn(input) });
      turn.push(writtenCall(call_id, name, input));
    } else if (item.type === "reasoning" && typeof item.encrypted_content === "string") {
      const { type, id = null, summary = [], encrypted_content } = item;
      turn.push({ type, ...(id !== null && { id }), summary, encrypted_content });
    }
  }
  const ending = status === "completed" ? "whole" : endingOf(objectOf(incomplete_details).reason);
  return { text, toolCalls, ending, turn };
}

function textOf(content: Json | undefined): string {
  return listOf(content)
    .map(objectOf)
    .map(({ type, text, refusal }) => (type === "refusal" ? refusal : text))
    .filter((said) => typeof said === "string")
    .join("");
}

function endingOf(reason: Json | undefined): Ending {
  return reason === "content_filter" ? "filtered" : "length";
}
