import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Batches } from "../ports/batches.js";
import type { BatchDeed } from "./deed.js";

/** What is done for a program that asks a model and can wait for the answer. */
export async function batchDeed(
  batches: Batches,
  { request = null, final = false, ...rest }: JsonObject,
): Promise<BatchDeed> {
  // Guests hand the request over as it is, agents inside of an object.
  const wanted: Json = request ?? rest;
  return { kind: "batch", final: final === true, terms: await batches.terms(wanted) };
}

/** Whether a program can wait for what it has asked for: then it may have been handed over. */
export function canWait({ name, args }: { readonly name: string; readonly args: Json }): boolean {
  return name === "llm" && typeof args === "object" && args !== null && "wait" in args && args.wait === true;
}
