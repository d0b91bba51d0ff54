import type { JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys, checkWait } from "../../core/fields.js";
import { type ScriptedRawUsage, type ScriptedUsage, USAGE_KEYS } from "./usage.js";

/** A tool that a scripted model wants to be used. */
export interface ScriptedToolCall {
  readonly name: string;
  readonly arguments: JsonObject;
}

/** What a scripted model does with one request: a text alone is an answer with that text. */
export type ScriptedAnswer = string | ReadAnswer;

/** An answer once it was looked at. */
export type ReadAnswer =
  | ScriptedText
  | ScriptedHalf
  | ScriptedEmbedding
  | ScriptedStatus
  | ScriptedGarbage
  | ScriptedHang;

interface Late {
  /** How long it takes until the answer begins: 0. */
  readonly latency_ms?: number;
}

/** What a model says, whether all of it arrives or not. */
export interface Spoken extends Late {
  readonly text: string;
  /**
   * What it thinks before that. It is shown where the protocol shows it and the request asks for it: as a block at Anthropic, as
   * a summary in Responses, and never in Chat Completions. It counts as output everywhere.
   */
  readonly thinking?: string;
  readonly tool_calls?: readonly ScriptedToolCall[];
  /** Counted by the size of the texts unless it is said; null when the provider is to say nothing about it. */
  readonly usage?: ScriptedUsage | ScriptedRawUsage | null;
  /** Whether it says all of it, however few tokens the request allows: no real provider should. */
  readonly ignores_limit?: boolean;
  /** Whether the provider's filter ends it: `content_filter`, or `refusal` at Anthropic. */
  readonly filtered?: boolean;
  /** How long it takes from one event of a stream to the next: 0. */
  readonly piece_ms?: number;
}

/** An answer as it should be. To a request for embeddings it means: as many vectors as were asked for. */
export interface ScriptedText extends Spoken {
  readonly kind: "text";
}

/** An answer that breaks off in the middle, as when a connection is lost. */
export interface ScriptedHalf extends Spoken {
  readonly kind: "half";
  /** How many events of a stream arrive: half of them. */
  readonly events?: number;
  /**
   * What arrives of the event after those, or of an answer that is no stream: `half` of its bytes, or all up to the middle of a
   * `character` that has several. Nothing of a stream's next event unless it is said, and half of any other answer.
   */
  readonly rest?: "half" | "character";
  /**
   * What happens then: the connection is `cut`, unless it is said that it stays open for ever (`hang`), that the response ends as
   * if it were whole (`end`), or that a stream tells of an `error` in the provider's own form.
   */
  readonly ending?: "cut" | "hang" | "end" | "error";
}

/** The answer to a request for embeddings, if its vectors matter. */
export interface ScriptedEmbedding extends Late {
  readonly kind: "embedding";
  /** One for each input. */
  readonly vectors: readonly (readonly number[])[];
  readonly usage?: ScriptedUsage | ScriptedRawUsage | null;
}

/** A failure with a status of HTTP, as 429, 500 and 529 are, in the provider's own form. */
export interface ScriptedStatus extends Late {
  readonly kind: "status";
  readonly status: number;
  readonly message?: string;
  /** The provider's name for it; the usual one for the status unless it is said. */
  readonly type?: string;
  /** OpenAI's second name for it. */
  readonly code?: string;
  readonly retry_after_s?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

/** No answer at all, for as long as the other side waits. */
export interface ScriptedHang {
  readonly kind: "hang";
}

/** Something that is no answer, with a status as if it were one. */
export interface ScriptedGarbage extends Late {
  readonly kind: "garbage";
  readonly body?: string;
  /** 200 unless it is said. */
  readonly status?: number;
  /** `application/json` unless it is said. */
  readonly content_type?: string;
}

const SPOKEN = ["text", "thinking", "tool_calls", "usage", "ignores_limit", "filtered", "piece_ms", "latency_ms"];
const KEYS: Readonly<Record<ReadAnswer["kind"], readonly string[]>> = {
  text: ["kind", ...SPOKEN],
  status: ["kind", "status", "message", "type", "code", "retry_after_s", "headers", "latency_ms"],
  hang: ["kind"],
  garbage: ["kind", "body", "status", "content_type", "latency_ms"],
  half: ["kind", ...SPOKEN, "events", "rest", "ending"],
  embedding: ["kind", "vectors", "usage", "latency_ms"],
};
const RESTS = ["half", "character"];
const ENDINGS = ["cut", "hang", "end", "error"];

/** Looks at what a script gives, because a typing mistake in a script must not pass as an answer of a model. */
export function readAnswer(answer: unknown): ReadAnswer {
  if (typeof answer === "string") return { kind: "text", text: answer };
  const kind = typeof answer === "object" && answer !== null && "kind" in answer ? answer.kind : undefined;
  if (typeof kind !== "string" || !Object.hasOwn(KEYS, kind)) {
    const kinds = Object.keys(KEYS).join(", ");
    throw new InputError("answer", `is ${show(answer)}; allowed: a text, or an object whose kind is ${kinds}`);
  }
  const read = answer as ReadAnswer;
  checkKeys(read, "answer", KEYS[read.kind]);
  if ("latency_ms" in read && read.latency_ms !== undefined) checkWait(read.latency_ms, "answer.latency_ms");
  switch (read.kind) {
    case "text":
      checkSpoken(read);
      break;
    case "half":
      checkSpoken(read);
      checkHalf(read);
      break;
    case "status":
      checkNumber(read.status, "status", { least: 400, most: 599 });
      break;
    case "garbage":
      if (read.status !== undefined) checkNumber(read.status, "status", { least: 200, most: 599 });
      break;
    case "embedding":
      checkVectors(read.vectors);
      checkUsage(read.usage);
      break;
  }
  return read;
}

function checkSpoken({ text, thinking = "", tool_calls = [], usage, piece_ms = 0 }: Spoken): void {
  if (typeof text !== "string") throw new InputError("answer.text", `is ${show(text)}; allowed: a text`);
  if (typeof thinking !== "string") throw new InputError("answer.thinking", `is ${show(thinking)}; allowed: a text`);
  checkWait(piece_ms, "answer.piece_ms");
  checkUsage(usage);
  for (const [index, call] of tool_calls.entries()) {
    const field = `answer.tool_calls[${index}]`;
    checkKeys(call, field, ["name", "arguments"]);
    if (typeof call.name !== "string") throw new InputError(`${field}.name`, `is ${show(call.name)}; allowed: a text`);
    if (typeof call.arguments !== "object" || call.arguments === null) {
      throw new InputError(`${field}.arguments`, `is ${show(call.arguments)}; allowed: an object`);
    }
  }
}

/** Only the names: a provider may say anything at all about its usage, and a script has to be able to. */
function checkUsage(usage: ScriptedUsage | ScriptedRawUsage | null | undefined): void {
  if (usage !== undefined && usage !== null && !("raw" in usage)) checkKeys(usage, "answer.usage", USAGE_KEYS);
}

function checkHalf({ events, rest, ending }: ScriptedHalf): void {
  if (events !== undefined) checkNumber(events, "events", { least: 0, most: Number.MAX_SAFE_INTEGER });
  if (rest !== undefined && !RESTS.includes(rest)) {
    throw new InputError("answer.rest", `is ${show(rest)}; allowed: ${RESTS.join(", ")}`);
  }
  if (ending !== undefined && !ENDINGS.includes(ending)) {
    throw new InputError("answer.ending", `is ${show(ending)}; allowed: ${ENDINGS.join(", ")}`);
  }
}

function checkVectors(vectors: unknown): void {
  const isVector = (value: unknown) => Array.isArray(value) && value.every((each) => typeof each === "number");
  if (!Array.isArray(vectors) || !vectors.every(isVector)) {
    throw new InputError("answer.vectors", `is ${show(vectors)}; allowed: a list of lists of numbers`);
  }
}

function checkNumber(value: unknown, name: string, { least, most }: { least: number; most: number }): void {
  if (Number.isInteger(value) && Number(value) >= least && Number(value) <= most) return;
  const allowed = name === "status" ? `a status from ${least} to ${most}` : `a whole number from ${least}`;
  throw new InputError(`answer.${name}`, `is ${show(value)}; allowed: ${allowed}`);
}
