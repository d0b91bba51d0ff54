import type { JsonObject } from "../../core/chain/canonical.js";
import { isObject, listOf, objectOf, parsedObject } from "../wire/json-object.js";
import { ProviderError } from "./provider-error.js";
import { shortened } from "./response.js";

/** Reads a completion. What cannot be one is an error, because a program must not take half an answer for a whole one. */
export function readAnswer(text: string, secret: string | null): JsonObject {
  const { choices, model = null } = parsedObject(text) ?? {};
  const all = listOf(choices);
  const { message, finish_reason = null } = objectOf(all[0]);
  if (!isObject(message)) throw unreadable(text, secret);
  const { content } = message;
  const answer = { text: typeof content === "string" ? content : "", finish_reason, model, message };
  // A request may ask for several answers, and each of them is paid for.
  return all.length > 1 ? { ...answer, choices: all } : answer;
}

function unreadable(text: string, secret: string | null): ProviderError {
  const said = shortened(text, secret);
  return new ProviderError("provider_answer", `the provider answered 200 with no completion: ${said || "nothing"}`);
}
