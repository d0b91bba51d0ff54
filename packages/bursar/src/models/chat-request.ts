import type { Json, JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";

/** A request as it goes over the wire, with the most it can take in and give back. */
export interface ChatRequest {
  readonly model: string;
  readonly body: string;
  /** The same before it was written. */
  readonly sent: JsonObject;
  readonly input_tokens: number;
  readonly output_tokens: number;
  /** Whether it asks to write input into a cache, which some providers bill. */
  readonly caches: "no" | "5m" | "1h";
}

export interface ChatDefaults {
  readonly model: string;
  readonly max_tokens: number;
}

/**
 * The fields of which it is known that they keep what a request costs below its quote. Others may not: several answers to one
 * request, a search on the web or a faster tier are paid for on top.
 */
const KEYS = [
  ...["model", "messages", "prompt", "system", "max_tokens", "max_completion_tokens", "temperature", "top_p", "stop"],
  ...["seed", "presence_penalty", "frequency_penalty", "logit_bias", "logprobs", "top_logprobs", "response_format"],
  ...["tools", "tool_choice", "parallel_tool_calls", "reasoning_effort", "verbosity", "user", "metadata"],
];

/** Providers write something around tools that the request does not show. */
const AROUND_TOOLS = 1024;

/**
 * Makes the body of a request. A text, or `prompt` and `system`, stand for messages. How much may be answered is always said,
 * because without that no quote would be true.
 */
export function chatRequest(request: Json, defaults: ChatDefaults): ChatRequest {
  const given: JsonObject = typeof request === "string" ? { prompt: request } : asObject(request);
  checkKeys(given, "request", KEYS);
  const { prompt, system, messages: listed, model = defaults.model, ...rest } = given;
  const { max_tokens, max_completion_tokens } = given;
  if (typeof model !== "string" || model === "") {
    throw new InputError("request.model", `is ${show(model)}; allowed: a model's name`);
  }
  if (max_tokens !== undefined && max_completion_tokens !== undefined) {
    throw new InputError("request.max_tokens", "stands beside max_completion_tokens; say one of them");
  }
  const most = max_completion_tokens ?? max_tokens ?? defaults.max_tokens;
  const messages = listed === undefined ? messagesFor(prompt, system) : checkMessages(listed, given);
  const limit = max_completion_tokens === undefined ? { max_tokens: most } : {};
  const sent: JsonObject = { ...rest, ...limit, model, messages, stream: false };
  const body = JSON.stringify(sent);
  const around = rest.tools === undefined ? 0 : AROUND_TOOLS;
  return {
    ...{ model, body, sent, input_tokens: Buffer.byteLength(body) + around, output_tokens: checkMost(most) },
    caches: cachesIn(body),
  };
}

/** Inside a text the quotes would be escaped, so only a field can be found like this. Whatever lives for an hour may be the cache. */
function cachesIn(body: string): ChatRequest["caches"] {
  if (!body.includes('"cache_control":')) return "no";
  return body.includes('"1h"') ? "1h" : "5m";
}

/** The most tokens an answer may have. */
export function checkMost(value: unknown, field = "request.max_tokens"): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0 && value <= 10_000_000) return value;
  throw new InputError(field, `is ${show(value)}; allowed: a whole number from 1 to 10,000,000`);
}

function messagesFor(prompt: Json | undefined, system: Json | undefined): readonly JsonObject[] {
  if (typeof prompt !== "string") {
    throw new InputError("request", "says nothing; allowed: a text, a prompt, or messages with a role and a content");
  }
  if (system !== undefined && typeof system !== "string") {
    throw new InputError("request.system", `is ${show(system)}; allowed: a text`);
  }
  const first = system === undefined ? [] : [{ role: "system", content: system }];
  return [...first, { role: "user", content: prompt }];
}

function checkMessages(messages: Json, { prompt, system }: JsonObject): readonly JsonObject[] {
  if (prompt !== undefined || system !== undefined) {
    throw new InputError("request.messages", "stand beside a prompt or a system; say one of them");
  }
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new InputError("request.messages", `are ${show(messages)}; allowed: a list with one message or more`);
  }
  messages.forEach((message: Json, index) => {
    checkMessage(message, `request.messages[${index}]`);
  });
  return messages;
}

function checkMessage(message: Json, field: string): void {
  const { role, content } = asObject(message, field);
  if (typeof role !== "string") throw new InputError(`${field}.role`, `is ${show(role)}; allowed: a text`);
  if (!Array.isArray(content)) return;
  for (const part of content as readonly Json[]) {
    const { type } = asObject(part, `${field}.content`);
    if (type === "text" || type === "refusal") continue;
    const why = "nobody can tell from its bytes how many tokens it is";
    throw new InputError(`${field}.content`, `has a part of type ${show(type)}, and ${why}; allowed: text`);
  }
}

function asObject(value: Json, field = "request"): JsonObject {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as JsonObject;
  throw new InputError(field, `is ${show(value)}; allowed: an object`);
}
