import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { checkMost } from "../chat-request.js";
import { ANTHROPIC_MESSAGES } from "../wire/anthropic-messages.js";
import { isObject, listOf } from "../wire/json-object.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import type { BatchRequest } from "./batch-provider.js";

/** The fields of which it is known that they keep what a request costs below its quote. */
const KEYS = [
  ...["model", "messages", "prompt", "system", "max_tokens", "temperature", "top_p", "top_k", "stop"],
  ...["stop_sequences", "tools", "tool_choice", "thinking", "metadata"],
];

/** Makes a message of Anthropic's out of what a program asks for: a text, or `prompt` and `system`, stand for messages. */
export function anthropicRequest(
  asked: Json,
  defaults: { readonly model: string; readonly max_tokens: number },
  compatible: boolean,
): BatchRequest {
  const given: JsonObject = typeof asked === "string" ? { prompt: asked } : objectIn(asked);
  checkKeys(given, "request", KEYS);
  const { prompt, system, messages: listed, stop, model = defaults.model, ...rest } = given;
  if (typeof model !== "string" || model === "") {
    throw new InputError("request.model", `is ${show(model)}; allowed: a model's name`);
  }
  const max_tokens = checkMost(given.max_tokens ?? defaults.max_tokens);
  const { messages, instructions } = messagesOf(listed, prompt);
  const said = [...(system === undefined ? [] : [system]), ...instructions];
  const body: JsonObject = {
    ...{ ...rest, model, max_tokens, messages },
    ...(said.length === 1 && { system: said[0] as Json }),
    ...(said.length > 1 && { system: said.map((text) => ({ type: "text", text })) }),
    ...(stop !== undefined && { stop_sequences: Array.isArray(stop) ? stop : [stop] }),
  };
  const facts = { bytes: Buffer.byteLength(JSON.stringify(body)), compatible };
  const { input_tokens, beyond, caches } = ANTHROPIC_MESSAGES.read(body, facts);
  if (beyond !== null) throw new UnboundedError("request", `has ${beyond}, and nobody can tell how many tokens it is`);
  return { model, body, input_tokens, output_tokens: max_tokens, caches };
}

/** Anthropic has no messages of a system's own among the others. */
function messagesOf(listed: Json | undefined, prompt: Json | undefined) {
  if (listed === undefined) {
    if (typeof prompt === "string") return { messages: [{ role: "user", content: prompt }], instructions: [] };
    throw new InputError("request", "says nothing; allowed: a text, a prompt, or messages with a role and a content");
  }
  if (prompt !== undefined) throw new InputError("request.messages", "stand beside a prompt; say one of them");
  const all = listOf(listed).filter(isObject);
  if (all.length === 0 || all.length < listOf(listed).length) {
    throw new InputError("request.messages", `are ${show(listed)}; allowed: a list of objects with a role`);
  }
  const instructions = all.filter(({ role }) => role === "system").map(({ content }) => content ?? "");
  const wrong = instructions.find((content) => typeof content !== "string");
  if (wrong !== undefined) throw new InputError("request.messages", "have instructions that are no text");
  return { messages: all.filter(({ role }) => role !== "system"), instructions };
}

function objectIn(value: Json): JsonObject {
  if (isObject(value)) return value;
  throw new InputError("request", `is ${show(value)}; allowed: a text or an object`);
}
