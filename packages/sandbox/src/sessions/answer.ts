import type { Answer } from "../wasm/outcome.js";
import { SandboxInputError } from "./input-error.js";

const LONGEST = 16 * 1024 * 1024;
const MOST_SHOWN = 10;

/** An answer as the guest gets it. It throws for one that no question waits for: that must not be the program's end. */
export function answerFor(answer: Answer, open: readonly number[]): Answer {
  if (typeof answer !== "object" || answer === null) throw new SandboxInputError("answer", "is no object with an id");
  const { id } = answer;
  if (!open.includes(id)) {
    const waiting = open.slice(0, MOST_SHOWN).join(", ") + (open.length > MOST_SHOWN ? ", …" : "");
    throw new SandboxInputError("answer.id", `is ${String(id)}; the program waits for answers to ${waiting}`);
  }
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

/** The value as JSON has it: nothing else can be told to a guest. */
function json(value: unknown, field: string): unknown {
  const text = textOf(value, field);
  if (text.length <= LONGEST) return JSON.parse(text);
  throw new SandboxInputError(field, `has ${text.length} characters as JSON; ${LONGEST} are allowed`);
}

function textOf(value: unknown, field: string): string {
  try {
    return JSON.stringify(value) ?? "null";
  } catch (error) {
    throw new SandboxInputError(field, `is no JSON value: ${(error as Error).message}`);
  }
}
