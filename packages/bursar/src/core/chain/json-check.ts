import { isWellFormed } from "./bytes.js";
import { explain, isPlainObject } from "./canonical-error.js";
import { MAX_DEPTH } from "./scan.js";

/**
 * Checks that a value that will stand at `path`, inside `depth` other containers, can be written as canonical JSON, without writing it:
 * one call for each container, where writing takes several for each member.
 *
 * @throws {CanonicalError} naming the path of the first part that is not JSON.
 */
export function checkJson(value: unknown, path: string, depth: number): void {
  if (!isJson(value, depth)) throw explain(value, path, depth);
}

function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
      return isWellFormed(value);
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return true;
    case "object":
      return value === null || (depth < MAX_DEPTH && isJsonContainer(value, depth + 1));
    default:
      return false;
  }
}

function isJsonContainer(value: object, depth: number): boolean {
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      if (!isJson(value[index], depth)) return false;
    }
    return true;
  }
  if (!isPlainObject(value)) return false;
  for (const key of Object.keys(value)) {
    if (!isWellFormed(key) || !isJson(value[key], depth)) return false;
  }
  return true;
}
