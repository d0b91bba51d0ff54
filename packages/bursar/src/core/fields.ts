import { InputError, show } from "./errors.js";
import { nearest } from "./nearest.js";

/** Whether something has keys that can be looked at. Neither an array has, nor a Map: what it holds would be passed over. */
export function isKeyed(value: unknown): value is object {
  return typeof value === "object" && value !== null && !(Symbol.iterator in value);
}

/**
 * Looks at the keys of an object from outside. One that is not known is a mistake that would be passed over in silence,
 * and a limit that is passed over is no limit.
 */
export function checkKeys(value: unknown, field: string, known: readonly string[]): void {
  if (!isKeyed(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: an object with ${known.join(", ")}`);
  }
  for (const key of Object.keys(value)) {
    if (known.includes(key)) continue;
    const guess = nearest(key, known);
    const hint = guess === null ? "" : `; did you mean ${guess}?`;
    throw new InputError(`${field}.${key}`, `is not known here${hint}; allowed: ${known.join(", ")}`);
  }
}

/** A whole number of milliseconds a caller is ready to wait. */
export function checkWait(value: unknown, field: string): void {
  if (typeof value !== "number" || !(value >= 0)) {
    throw new InputError(field, `is ${show(value)}; allowed: 0 or more milliseconds`);
  }
}

/** A whole number within bounds. */
export function checkWhole(value: unknown, field: string, least: number, most: number): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= least && value <= most) return;
  throw new InputError(field, `is ${show(value)}; allowed: a whole number from ${least} to ${most}`);
}
