import type { Json, JsonObject } from "../core/chain/canonical.js";
import { ProviderError } from "./provider-error.js";
import { shortened } from "./response.js";

/** What came back, and what it has used where the provider says so. */
export interface ChatAnswer {
  readonly value: JsonObject;
  readonly usage: { readonly input_tokens: number; readonly output_tokens: number } | null;
}

/** Reads a completion. What cannot be one is an error, because a program must not take half an answer for a whole one. */
export function readAnswer(text: string, secret: string | null): ChatAnswer {
  const body = parsed(text);
  const { choices, usage, model = null } = objectOf(body);
  const [choice] = Array.isArray(choices) ? (choices as readonly Json[]) : [];
  const { message, finish_reason = null } = objectOf(choice);
  if (!isObject(message)) throw unreadable(text, secret);
  const { content } = message;
  const answer = typeof content === "string" ? content : "";
  return { value: { text: answer, finish_reason, model, message }, usage: usageIn(usage) };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return null;
  }
}

/**
 * Some providers leave what a model has thought out of `completion_tokens`, and have it in the total. It is paid for as output,
 * so it counts as that.
 */
function usageIn(usage: Json | undefined): ChatAnswer["usage"] {
  const { prompt_tokens: input, completion_tokens: output, total_tokens: total } = objectOf(usage);
  if (!isCount(input) || !isCount(output)) return null;
  return { input_tokens: input, output_tokens: isCount(total) ? Math.max(output, total - input) : output };
}

function isCount(value: Json | undefined): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function unreadable(text: string, secret: string | null): ProviderError {
  const said = shortened(text, secret);
  return new ProviderError("provider_answer", `the provider answered 200 with no completion: ${said || "nothing"}`);
}
