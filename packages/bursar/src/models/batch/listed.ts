import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isObject } from "../wire/json-object.js";
import type { Found, Submitted } from "./batch-provider.js";
import type { BatchWire } from "./batch-wire.js";
import { WireFailure } from "./wire-failure.js";

const LONGEST_ID = 500;
const PAGE = 100;
const MOST_PAGES = 100;
/** Two clocks may differ by so much. */
const SKEW_MS = 10 * 60_000;

/** How a provider lists its batches. */
interface Listing {
  readonly path: string;
  /** Under this name it is told after which batch a page begins. */
  readonly cursor: string;
  /** When a batch says it was made. */
  readonly instantOf: (batch: JsonObject) => number;
}

/** So many batches are looked at. */
export const MOST_LISTED: number = PAGE * MOST_PAGES;

/** Whether a provider may call something so: it stands in the paths that we ask for, and in the store. */
export function isProviderId(value: Json | undefined): value is string {
  if (typeof value !== "string" || value.length > LONGEST_ID || /[\p{Cc}\p{Cs}]/u.test(value)) return false;
  // Only dots lead to another place, even where everything else is escaped.
  return !/^\.*$/.test(value);
}

/**
 * The batches of a provider, page by page, until nothing younger than a moment can follow. After the last page that is looked at
 * comes null when that does not reach back so far.
 */
export async function* listedSince(
  wire: BatchWire,
  { path, cursor, instantOf }: Listing,
  moment: number,
  signal: AbortSignal,
): AsyncGenerator<readonly JsonObject[] | null> {
  let after = "";
  for (let page = 0; page < MOST_PAGES; page++) {
    const { data, has_more } = await wire.get(`${path}?limit=${PAGE}${after}`, signal);
    const batches = pageOf(data);
    yield batches;
    const last = batches.at(-1);
    if (last === undefined || has_more !== true || endsBefore(batches.map(instantOf), moment - SKEW_MS)) return;
    after = `&${cursor}=${encodeURIComponent(String(last.id))}`;
  }
  yield null;
}

/** Whether a batch may have been made since a moment. One that does not say when it was made may be young. */
export function mayBeSince(moment: number, instant: number): boolean {
  return !(instant < moment - SKEW_MS);
}

/** What it means that a batch could not be handed in. */
export function submissionOf(error: unknown): Submitted {
  if (!(error instanceof WireFailure)) throw error;
  const { kind, message, status } = error;
  if (kind === "refused") return { kind, message, status };
  return { kind: kind === "busy" ? "later" : "unknown", message };
}

/** What it means that a batch could not be looked for. A server without a list will never have one. */
export function foundAfter(error: unknown): Found {
  if (!(error instanceof WireFailure)) throw error;
  const { status, message } = error;
  return { kind: status === 404 || status === 405 ? "untold" : "later", message };
}

/** One page of a provider's batches. Whatever is none says nothing about whether a batch has arrived. */
function pageOf(data: Json | undefined): readonly JsonObject[] {
  if (Array.isArray(data) && (data as readonly Json[]).every(isObject)) return data as unknown as readonly JsonObject[];
  throw new WireFailure("unknown", "the provider was asked for its batches, and has answered with no list of them");
}

/** Whether a page comes to an end before this moment, so that no later page has anything younger. */
function endsBefore(instants: readonly number[], moment: number): boolean {
  const [first = Number.NaN] = instants;
  const last = instants.at(-1) ?? Number.NaN;
  // Who lists the oldest first goes on to younger ones.
  return first > last && last < moment;
}
