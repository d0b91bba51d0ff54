import type { JsonObject } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";

/** What a scripted model says it has used; what is true in a script is what the script says. */
export interface ScriptedUsage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
}

/** A tool that a scripted model wants to be used. */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What a scripted model does with one request: a text alone is an answer with that text. */
export type ScriptedAnswer = string | ScriptedText | ScriptedStatus | ScriptedHang | ScriptedGarbage | ScriptedHalf;

/** An answer as it should be. */
export interface ScriptedText extends Late {
  readonly kind: "text";
  readonly text: string;
  readonly tool_calls?: readonly ScriptedToolCall[];
  /** Counted by the size of the texts unless it is said; null when the provider is to say nothing about it. */
  readonly usage?: ScriptedUsage | null;
}

/** A failure with a status of HTTP, as 429 and 500 are. */
export interface ScriptedStatus extends Late {
  readonly kind: "status";
  readonly status: number;
  readonly message?: string;
  readonly retry_after_s?: number;
}

/** No answer at all, for as long as the other side waits. */
export interface ScriptedHang {
  readonly kind: "hang";
}

/** Something that is no answer, with a status as if it were one. */
export interface ScriptedGarbage extends Late {
  readonly kind: "garbage";
  readonly body?: string;
}

/** An answer that breaks off in the middle, as when a connection is lost. */
export interface ScriptedHalf extends Late {
  readonly kind: "half";
  readonly text: string;
}

interface Late {
  /** How long it takes until the answer begins: 0. */
  readonly latency_ms?: number;
}

const KEYS: Readonly<Record<Exclude<ScriptedAnswer, string>["kind"], readonly string[]>> = {
  text: ["kind", "text", "tool_calls", "usage", "latency_ms"],
  status: ["kind", "status", "message", "retry_after_s", "latency_ms"],
  hang: ["kind"],
  garbage: ["kind", "body", "latency_ms"],
  half: ["kind", "text", "latency_ms"],
};

/** Looks at what a script gives, because a typing mistake in a script must not pass as an answer of a model. */
export function readAnswer(answer: unknown): Exclude<ScriptedAnswer, string> {
  if (typeof answer === "string") return { kind: "text", text: answer };
  const kind = typeof answer === "object" && answer !== null && "kind" in answer ? answer.kind : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(KEYS, kind)) {
    const kinds = Object.keys(KEYS).join(", ");
    throw new InputError("answer", `is ${show(answer)}; allowed: a text, or an object whose kind is ${kinds}`);
  }
  const read = answer as Exclude<ScriptedAnswer, string>;
  checkKeys(read, "answer", KEYS[read.kind]);
  if ("latency_ms" in read && read.latency_ms !== undefined) checkWait(read.latency_ms, "answer.latency_ms");
  if ((read.kind === "text" || read.kind === "half") && typeof read.text !== "string") {
    throw new InputError("answer.text", `is ${show(read.text)}; allowed: a text`);
  }
  if (read.kind === "status" && !(Number.isInteger(read.status) && read.status >= 400 && read.status <= 599)) {
    throw new InputError("answer.status", `is ${show(read.status)}; allowed: a status from 400 to 599`);
  }
  return read;
}
