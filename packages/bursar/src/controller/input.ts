import { InputError, show } from "../core/errors.js";
import { isKeyed } from "../core/fields.js";
import { nearest } from "../core/nearest.js";

/** The fields of an object from outside. One that is not known is a mistake, and a limit that is ignored is no limit. */
export function readFields(input: unknown, field: string, known: readonly string[]): Readonly<Record<string, unknown>> {
  if (!isKeyed(input)) {
    throw new InputError(field, `is ${show(input)}; allowed: an object with ${known.join(", ")}`);
  }
  for (const key of Object.keys(input)) {
    if (!known.includes(key)) throw new InputError(key, `is not known in ${field}${hint(key, known)}`);
  }
  return input as Record<string, unknown>;
}

/** One of a few words. */
export function readWord<Word extends string>(value: unknown, field: string, known: readonly Word[]): Word {
  const word = known.find((candidate) => candidate === value);
  if (word === undefined) throw new InputError(field, `is ${show(value)}${hint(value, known)}`);
  return word;
}

function hint(value: unknown, known: readonly string[]): string {
  const guess = typeof value === "string" ? nearest(value, known) : null;
  return `${guess === null ? "" : `; did you mean ${guess}?`}; allowed: ${known.join(", ")}`;
}
