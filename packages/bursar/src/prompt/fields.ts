import { InputError } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";

/**
 * Opens an object a caller wrote. A misspelt key would silently leave something unlimited, so it is refused, and so is a
 * key that is there but undefined.
 */
export function readFields<Key extends string>(
  value: unknown,
  field: string,
  known: readonly Key[],
): Readonly<Partial<Record<Key, unknown>>> {
  checkKeys(value, field, known);
  for (const [key, each] of Object.entries(value as object)) {
    if (each === undefined) {
      throw new InputError(`${field}.${key}`, "is undefined; leave it out, or give null for none");
    }
  }
  return value as Readonly<Partial<Record<Key, unknown>>>;
}
