import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { RunError } from "../../runs/error.js";
import type { MeteredRequest } from "../meter/meter.js";
import { readMetered } from "../meter/metered-request.js";
import type { RefusalReport } from "../meter/refusal.js";
import type { Deployments } from "../wire/deployments.js";
import { isObject } from "../wire/json-object.js";
import { OPENAI_CHAT } from "../wire/openai-chat.js";

/** The most output that an option may name. */
export const MOST_OUTPUT_TOKENS = 10_000_000;

/** What a request is read with. */
export interface ReadingChat {
  /** The model of requests that name none. */
  readonly model: string;
  readonly url: URL;
  readonly deployments: Deployments;
  /** What may be sent there beside what is known. */
  readonly allow: ReadonlySet<string>;
}

/**
 * Reads what a program asks of a chat model, with the reader that every request on the wire passes. A text, or `prompt` and
 * `system`, stand for messages; every other field goes to the provider as it is, or is refused as it is on the wire.
 */
export function readChat(request: Json, { model, url, deployments, allow }: ReadingChat): MeteredRequest {
  const body = JSON.stringify(chatBody(request, model));
  const bytes = Buffer.byteLength(body);
  return madeOf(readMetered({ protocol: OPENAI_CHAT, url, body, bytes, deployments, allow }));
}

/** A request that was let through; a refusal is thrown as programs hear of it. */
export function madeOf<Made extends object>(read: Made | RefusalReport, model: string | null = null): Made {
  if (!isRefusal(read)) return read;
  const { code, message, hint } = read;
  if (code === "invalid_request") throw new InputError("request", `cannot be sent: ${message}`);
  throw new RunError(code, `${message}; ${hint}`, model === null ? {} : { model });
}

function isRefusal(read: object): read is RefusalReport {
  return "code" in read && "hint" in read;
}

function chatBody(request: Json, model: string): JsonObject {
  const { prompt = null, system = null, messages = null, ...rest } = fieldsOf(request);
  checkWholeAnswer(rest);
  if (messages === null) return { model, ...rest, messages: messagesFor(prompt, system) };
  if (prompt !== null || system !== null) {
    throw new InputError("request.messages", "stand beside a prompt or a system; say one of them");
  }
  if (Array.isArray(messages) && messages.length > 0) return { model, ...rest, messages };
  throw new InputError("request.messages", `are ${show(messages)}; allowed: a list with one message or more`);
}

/** The fields that a program gives; a text is a prompt. */
export function fieldsOf(request: Json): JsonObject {
  if (typeof request === "string") return { prompt: request };
  if (isObject(request)) return request;
  throw new InputError("request", `is ${show(request)}; allowed: a text or an object`);
}

/** Answers of runs come in one piece, because the journal keeps them so. */
export function checkWholeAnswer({ stream = false }: JsonObject): void {
  if (stream === false || stream === null) return;
  throw new InputError("request.stream", `is ${show(stream)}; allowed: false, because the answer comes in one piece`);
}

function messagesFor(prompt: Json, system: Json): readonly JsonObject[] {
  if (typeof prompt !== "string") {
    throw new InputError("request", "says nothing; allowed: a text, a prompt, or messages with a role and a content");
  }
  if (system !== null && typeof system !== "string") {
    throw new InputError("request.system", `is ${show(system)}; allowed: a text`);
  }
  const first = system === null ? [] : [{ role: "system", content: system }];
  return [...first, { role: "user", content: prompt }];
}
