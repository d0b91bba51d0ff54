import type { JsonObject } from "../../core/chain/canonical.js";
import type { Document } from "../../core/document.js";
import type { PutOperation } from "../../core/operation.js";

/** Where a batch stands: on its way to the provider, with it, or over. */
type BatchStatus = "submitting" | "submitted" | "ended";

/** Calls that went out together, as the store keeps them. */
export interface BatchRecord {
  readonly id: string;
  readonly status: BatchStatus;
  readonly outlet: string;
  readonly model: string;
  /** Names the batch at the provider, so that it can be found there by whoever does not know whether it arrived. */
  readonly marker: string;
  /** The ids of its items; each is sent under the marker and its place here. */
  readonly items: readonly string[];
  /** Whether it may have reached the provider; false only when it is certain that it has not. */
  readonly doubt: boolean;
  /** How often it was sent or looked for without success; then how often it was looked at. */
  readonly tries: number;
  /** What the provider calls it. */
  readonly provider_id: string | null;
  readonly created: number;
  /** When it is to be looked at again. */
  readonly next: number;
  /** Whether the provider was told that nobody wants it any more. */
  readonly cancelled: boolean;
  readonly version: number;
}

const PREFIX = "batch:";

export function batchId(marker: string): string {
  return `${PREFIX}${marker}`;
}

/** What an item is called at the provider: letters, digits and signs that all of them take, 64 at most. */
export function customId({ marker }: Pick<BatchRecord, "marker">, index: number): string {
  return `${marker}-${index}`;
}

/** Which of the items it is; null when it is none of this batch. */
export function indexOf({ marker, items }: BatchRecord, custom_id: string): number | null {
  if (!custom_id.startsWith(`${marker}-`)) return null;
  const index = Number(custom_id.slice(marker.length + 1));
  // Only as we write it: others may be read as numbers as well.
  return custom_id === customId({ marker }, index) && items[index] !== undefined ? index : null;
}

export function readBatch({ id, status, body, version }: Document): BatchRecord {
  return { ...(body as unknown as BatchRecord), id, status: status as BatchStatus, version };
}

export function putBatch({ id, status, version, ...body }: BatchRecord): PutOperation {
  return { op: "put", kind: "batch", id, budget: null, status, body: body as unknown as JsonObject, version };
}
