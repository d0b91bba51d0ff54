import { InputError, show } from "../core/errors.js";
import { nearest } from "../core/nearest.js";

/**
 * Opens an object a caller wrote. A misspelt key would silently leave something unlimited, so it is refused, and so is a
 * key that is there but undefined.
 */
export function readFields<Key extends string>(
  value: unknown,
  field: string,
  known: readonly Key[],
): Readonly<Partial<Record<Key, unknown>>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(field, `is ${show(value)}; allowed: an object with ${known.join(" and ")}`);
  }
  for (const [key, each] of Object.entries(value)) {
    if (!known.some((name) => name === key)) {
      const guess = nearest(key, known);
      const hint = guess === null ? "" : `; did you mean ${guess}?`;
      throw new InputError(`${field}.${key}`, `is not known here${hint}; allowed: ${known.join(", ")}`);
    }
    if (each === undefined)
      throw new InputError(`${field}.${key}`, "is undefined; leave it out, or give null for none");
  }
  return value as Readonly<Partial<Record<Key, unknown>>>;
}
