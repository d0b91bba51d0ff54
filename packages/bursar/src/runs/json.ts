import { canonicalize, type Json } from "../core/chain/canonical.js";
import { RunError } from "./error.js";

/** What a program is told has to be the same in a replay, so it is what can be written down of it. */
export function toJson(value: unknown): Json {
  const json = value === undefined ? null : (JSON.parse(JSON.stringify(value) ?? "null") as Json);
  try {
    canonicalize({ json });
  } catch (error) {
    throw new RunError("unwritable", `what it gave back cannot be written down: ${(error as Error).message}`);
  }
  return json;
}
