import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { checkWholeAnswer, fieldsOf, madeOf, type ReadingChat } from "../chat/chat-body.js";
import type { MeteredRequest } from "../meter/meter.js";
import { readMetered } from "../meter/metered-request.js";
import { ANTHROPIC_MESSAGES } from "../wire/anthropic-messages.js";
import { isObject, listOf } from "../wire/json-object.js";

/** Makes a message of Anthropic's out of what a program asks for: a text, or `prompt` and `system`, stand for messages. */
export function anthropicRequest(request: Json, about: ReadingChat): MeteredRequest {
  const { prompt, system, messages: listed, stop, ...rest } = fieldsOf(request);
  checkWholeAnswer(rest);
  const { messages, instructions } = messagesOf(listed, prompt);
  const said = [...(system === undefined ? [] : [system]), ...instructions];
  const fields: JsonObject = {
    model: about.model,
    ...rest,
    messages,
    ...(said.length === 1 && { system: said[0] as Json }),
    ...(said.length > 1 && { system: said.map((text) => ({ type: "text", text })) }),
    ...(stop !== undefined && { stop_sequences: Array.isArray(stop) ? stop : [stop] }),
  };
  const body = JSON.stringify(fields);
  const { url, deployments, allow } = about;
  const bytes = Buffer.byteLength(body);
  return madeOf(readMetered({ protocol: ANTHROPIC_MESSAGES, url, body, bytes, deployments, allow }));
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
