import type { IncomingHttpHeaders } from "node:http";
import type { Json, JsonObject } from "../core/chain/canonical.js";
import { show } from "../core/errors.js";
import type { ScriptedRequest } from "./scripted-model-wire.js";

/** Reads a request as strictly as a provider would: a client that sends nonsense has to notice. */
export function readRequest(
  text: string,
  headers: IncomingHttpHeaders,
  number: number,
): ScriptedRequest | { readonly problem: string } {
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    return { problem: "the body is no JSON" };
  }
  if (!isObject(body)) return { problem: "the body is no object" };
  const { model, messages, stream = false, max_tokens = null, max_completion_tokens = null } = body;
  if (typeof model !== "string") return { problem: `model is ${show(model)}; allowed: a model's name` };
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    return { problem: "messages is no list of objects with a role" };
  }
  if (typeof stream !== "boolean") return { problem: `stream is ${show(stream)}; allowed: true or false` };
  const most = max_completion_tokens ?? max_tokens;
  if (most !== null && !(typeof most === "number" && Number.isSafeInteger(most) && most > 0)) {
    return { problem: `max_tokens is ${show(most)}; allowed: a whole number above 0` };
  }
  const last: JsonObject = messages.at(-1) ?? {};
  return {
    ...{ number, model, messages, text: textOf(last.content), max_tokens: most, stream, body },
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
  };
}

/** A content is a text, or a list of parts of which some are texts. */
function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return content.map((part: Json) => (isObject(part) && typeof part.text === "string" ? part.text : "")).join("");
}

function isMessage(value: Json): value is JsonObject {
  return isObject(value) && typeof value.role === "string";
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
