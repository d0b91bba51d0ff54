import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isObject } from "../wire/json-object.js";
import { WireFailure } from "./wire-failure.js";

const LONGEST_ID = 500;

/** Whether a provider may call something so: it stands in the paths that we ask for, and in the store. */
export function isProviderId(value: Json | undefined): value is string {
  if (typeof value !== "string" || value.length > LONGEST_ID || /[\p{Cc}\p{Cs}]/u.test(value)) return false;
  // Only dots lead to another place, even where everything else is escaped.
  return !/^\.*$/.test(value);
}

/** One page of a provider's batches. Whatever is none says nothing about whether a batch has arrived. */
export function pageOf(data: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(data) && (data as readonly Json[]).every(isObject)) return data as unknown as readonly JsonObject[];
  throw new WireFailure("unknown", "the provider was asked for its batches, and has answered with no list of them");
}

/** Whether a page comes to an end before this moment, so that no later page has anything younger. */
export function endsBefore(instants: readonly number[], moment: number): boolean {
  const [first = Number.NaN] = instants;
  const last = instants.at(-1) ?? Number.NaN;
  // Who lists the oldest first goes on to younger ones.
  return first > last && last < moment;
}
