import type { JsonObject } from "../core/chain/canonical.js";
import { ProviderError } from "./provider-error.js";
import { shortened } from "./response.js";
import { isObject, listOf, objectOf, parsedObject } from "./wire/json-object.js";
import { chatUsage } from "./wire/openai-usage.js";
import type { TokenCounts } from "./wire/token-counts.js";

/** What came back, and what it has used where the provider says so. */
export interface ChatAnswer {
  readonly value: JsonObject;
  readonly usage: TokenCounts | null;
}

/** Reads a completion. What cannot be one is an error, because a program must not take half an answer for a whole one. */
export function readAnswer(text: string, secret: string | null): ChatAnswer {
  const { choices, usage, model = null } = parsedObject(text) ?? {};
  const [choice] = listOf(choices);
  const { message, finish_reason = null } = objectOf(choice);
  if (!isObject(message)) throw unreadable(text, secret);
  const { content } = message;
  const answer = typeof content === "string" ? content : "";
  return { value: { text: answer, finish_reason, model, message }, usage: chatUsage(usage) };
}

function unreadable(text: string, secret: string | null): ProviderError {
  const said = shortened(text, secret);
  return new ProviderError("provider_answer", `the provider answered 200 with no completion: ${said || "nothing"}`);
}
