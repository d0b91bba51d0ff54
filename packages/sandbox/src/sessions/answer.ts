import type { Answer } from "../wasm/outcome.js";
import { SandboxInputError } from "./input-error.js";

const LONGEST = 16 * 1024 * 1024;
const LONGEST_MESSAGE = 64 * 1024;
const MOST_SHOWN = 10;

/** Throws for an answer that no question waits for: that must not be the program's end. */
export function checkAnswered(answer: Answer, open: readonly number[]): Answer {
  if (open.includes(answer.id)) return answer;
  const waiting = open.slice(0, MOST_SHOWN).join(", ") + (open.length > MOST_SHOWN ? ", …" : "");
  throw new SandboxInputError("answer.id", `is ${String(answer.id)}; the program waits for answers to ${waiting}`);
}

/**
 * An answer as the guest gets it, with its value as `JSON.stringify` writes it: `undefined` members and functions are left out, a date
 * is a text, `NaN` is null. It throws for what JSON cannot say, before anything of it leaves this process.
 */
export function writtenAnswer(answer: Answer): Answer {
  if (typeof answer !== "object" || answer === null) throw new SandboxInputError("answer", "is no object with an id");
  const { id } = answer;
  if (!("error" in answer)) return { id, value: json(answer.value, "answer.value") };
  const { error, data } = answer;
  if (typeof error !== "string" || error.length > LONGEST) {
    throw new SandboxInputError("answer.error", `has to be a text of at most ${LONGEST} characters`);
  }
  if (data === undefined) return { id, error };
  if (typeof data !== "object" || data === null || Array.isArray(data)) {
    throw new SandboxInputError("answer.data", "has to be an object");
  }
  return { id, error, data: json(data, "answer.data") as Readonly<Record<string, unknown>> };
}

/** What a guest is told of an error that a handler has thrown: its message, cut to a sane length. */
export function messageOf(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : error;
    return String(message).slice(0, LONGEST_MESSAGE);
  } catch {
    return "the handler failed, and its error cannot be described";
  }
}

/** The value as JSON has it: nothing else can be told to a guest. */
function json(value: unknown, field: string): unknown {
  const text = textOf(value, field);
  if (text.length <= LONGEST) return JSON.parse(text);
  throw new SandboxInputError(field, `has ${text.length} characters as JSON; ${LONGEST} are allowed`);
}

function textOf(value: unknown, field: string): string {
  if (typeof value === "function" || typeof value === "symbol") {
    throw new SandboxInputError(field, `is no JSON value: it is a ${typeof value}`);
  }
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    throw new SandboxInputError(field, `is no JSON value: ${messageOf(error)}`);
  }
}
