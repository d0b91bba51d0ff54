import type { Json } from "../core/chain/canonical.js";
import { checkJson } from "../core/chain/json-check.js";
import { RunError } from "./error.js";

/** What a program is told has to be the same in a replay, so it is what can be written down of it. */
export function toJson(value: unknown, what = "what it gave back"): Json {
  try {
    if (typeof value === "function" || typeof value === "symbol") throw new TypeError(`it is a ${typeof value}`);
    const json = JSON.parse(JSON.stringify(value) ?? "null") as Json;
    checkJson({ json }, "$", 0);
    return json;
  } catch (error) {
    throw new RunError("unwritable", `${what} cannot be written down: ${problemOf(error)}`);
  }
}

/** A getter may throw anything. */
function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : "it cannot be read";
}
