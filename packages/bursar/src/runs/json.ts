import { canonicalize, type Json } from "../core/chain/canonical.js";
import { RunError } from "./error.js";

/** What a program is told has to be the same in a replay, so it is what can be written down of it. */
export function toJson(value: unknown, what = "what it gave back"): Json {
  try {
    const json = JSON.parse(JSON.stringify(value) ?? "null") as Json;
    canonicalize({ json });
    return json;
  } catch (error) {
    throw new RunError("unwritable", `${what} cannot be written down: ${(error as Error).message}`);
  }
}
