import { nearest } from "bursar/nearest";

/** A command line that cannot be understood. Nothing was done. */
export class UsageError extends Error {
  override readonly name: string = "UsageError";
}

/** A command that cannot be carried out for a reason that the user can remove. */
export class CommandError extends Error {
  override readonly name: string = "CommandError";
}

/** A word for a message. A part that may hold a login is left out, because messages end up in logs. */
export function shown(word: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(word) ?? /^(?:postgres|postgresql):/i.exec(word);
  if (scheme !== null) return `${scheme[0].toLowerCase()}…`;
  return /:.*@/s.test(word) ? "…" : word;
}

/** The message for an unknown word: the nearest known one, or all of them. */
export function unknown(subject: string, word: string, known: readonly string[]): string {
  const guess = nearest(word, known);
  const hint = guess === null ? `known: ${known.join(", ")}` : `did you mean ${guess}?`;
  return `${subject} is not known; ${hint}`;
}
