import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";

/** The ways to talk that a scripted model knows. */
export type ScriptedProtocol = "openai-chat" | "openai-responses" | "openai-embeddings" | "anthropic-messages";

/** What a scripted model was asked, as it came in. */
export interface ScriptedRequest {
  /** The first is 1. */
  readonly number: number;
  readonly protocol: ScriptedProtocol;
  /** Where it went, as `/v1/chat/completions`. */
  readonly path: string;
  readonly model: string;
  /** The messages; the items of the input in Responses; nothing where embeddings are asked for. */
  readonly messages: readonly JsonObject[];
  /** The text of the last message. */
  readonly text: string;
  /** The most an answer may have, however the protocol spells it. */
  readonly max_tokens: number | null;
  readonly stream: boolean;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

/** What a protocol reads out of a body. */
export interface Reading extends Pick<ScriptedRequest, "messages" | "text" | "max_tokens" | "stream"> {
  readonly terms: Terms;
}

/** What a request says about its answer, beyond what a script needs to know. */
export interface Terms {
  readonly input_tokens: number;
  /** How many answers it wants. */
  readonly answers: number;
  /** Texts that end an answer. */
  readonly stops: readonly string[];
  /** The most it may think. */
  readonly thinking_tokens: number;
}

/** A request, read. */
export interface Heard {
  readonly request: ScriptedRequest;
  readonly terms: Terms;
}

/** The body of a request. */
export function parseBody(text: string): JsonObject {
  let body: Json;
  try {
    body = JSON.parse(text) as Json;
  } catch {
    throw new InputError("body", "is no JSON");
  }
  if (!isObject(body)) throw new InputError("body", "is no object");
  return body;
}

export function readModel({ model }: JsonObject): string {
  if (typeof model !== "string") throw new InputError("model", `is ${show(model)}; allowed: a model's name`);
  return model;
}

export function readStream({ stream = false }: JsonObject): boolean {
  if (typeof stream !== "boolean") throw new InputError("stream", `is ${show(stream)}; allowed: true or false`);
  return stream;
}

/** A whole number; null where there is none. */
export function readCount(body: JsonObject, field: string, least = 1): number | null {
  const value = body[field] ?? null;
  if (value === null || (typeof value === "number" && Number.isSafeInteger(value) && value >= least)) return value;
  throw new InputError(field, `is ${show(value)}; allowed: a whole number from ${least}`);
}

/** Messages that have a role. */
export function readMessages({ messages }: JsonObject): readonly JsonObject[] {
  if (!Array.isArray(messages) || messages.length === 0 || !messages.every(isMessage)) {
    throw new InputError("messages", "is no list of objects with a role");
  }
  return messages;
}

/** Texts that end an answer: one, several or none. */
export function readStops(body: JsonObject, field: string): readonly string[] {
  const value = body[field] ?? [];
  const stops: readonly Json[] = Array.isArray(value) ? value : [value as Json];
  return stops.map((stop) => {
    if (typeof stop === "string" && stop !== "") return stop;
    throw new InputError(field, `is ${show(value)}; allowed: a text or a list of texts`);
  });
}

/** A content is a text, or a list of parts of which some are texts, and some results of tools with a content of their own. */
export function textOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return partsOf(content)
    .map((part) => (typeof part.text === "string" ? part.text : flatTextOf(part.content)))
    .join("");
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function flatTextOf(content: Json | undefined): string {
  if (typeof content === "string") return content;
  return partsOf(content)
    .map(({ text }) => (typeof text === "string" ? text : ""))
    .join("");
}

function partsOf(content: Json | undefined): readonly JsonObject[] {
  return Array.isArray(content) ? (content as readonly Json[]).filter(isObject) : [];
}

function isMessage(value: Json): value is JsonObject {
  return isObject(value) && typeof value.role === "string";
}
