import { explain, isPlainObject } from "./canonical-error.js";
import { MAX_DEPTH } from "./scan.js";

const { hasOwnProperty: isOwn } = Object.prototype;

/**
 * Checks that a value that will stand at `path`, inside `depth` other containers, can be written as canonical JSON, without writing it:
 * that takes less than a tenth of the time.
 *
 * @throws {CanonicalError} naming the path of the first part that is not JSON.
 */
export function checkJson(value: object, path: string, depth: number): void {
  if (!isJsonContainer(value, depth)) throw explain(value, path, depth);
}

function isJsonContainer(container: object, depth: number): boolean {
  if (depth >= MAX_DEPTH) return false;
  if (Array.isArray(container)) {
    // A hole is undefined, which is no JSON.
    for (let index = 0; index < container.length; index++) if (!isJson(container[index], depth)) return false;
    return true;
  }
  if (!isPlainObject(container)) return false;
  for (const key in container) {
    if (!isOwn.call(container, key)) continue;
    if (!key.isWellFormed() || !isJson(container[key], depth)) return false;
  }
  return true;
}

/** A text with half of a surrogate pair has no UTF-8 form. */
function isJson(value: unknown, depth: number): boolean {
  switch (typeof value) {
    case "string":
      return value.isWellFormed();
    case "number":
      return Number.isFinite(value);
    case "boolean":
      return true;
    case "object":
      return value === null || isJsonContainer(value, depth + 1);
    default:
      return false;
  }
}
