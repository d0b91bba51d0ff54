import type { JsonObject } from "../../core/chain/canonical.js";
import type { Provider } from "./wire.js";

/** One request of a batch, as it was handed in. */
export interface BatchLine {
  readonly custom_id: string;
  readonly body: JsonObject;
}

/** What became of one request of a batch. */
export type BatchResult =
  | { readonly kind: "answer"; readonly body: JsonObject }
  | { readonly kind: "error"; readonly status: number; readonly body: JsonObject }
  | { readonly kind: "expired" | "cancelled" | "missing" };

export type BatchState = "under_way" | "cancelling" | "completed" | "expired" | "cancelled" | "failed";

/** A batch at a scripted model. */
export interface ScriptedBatch {
  readonly id: string;
  readonly provider: Provider;
  readonly lines: readonly BatchLine[];
  /** Milliseconds since 1970. */
  readonly created: number;
  readonly metadata: JsonObject;
  readonly endpoint: string;
  readonly input_file_id: string;
  state: BatchState;
  looks: number;
  ended: number | null;
  /** Why it could not even begin. */
  readonly complaint: string | null;
  readonly results: Map<string, BatchResult>;
}

export const DAY_MS: number = 24 * 60 * 60_000;

/** How many requests of a batch ended in this way. */
export function countOf({ results }: ScriptedBatch, kind: BatchResult["kind"]): number {
  return [...results.values()].filter((result) => result.kind === kind).length;
}

/** Providers give results back in an order of their own: here every second one first, and those from the end. */
export function mixed<Item>(items: readonly Item[]): readonly Item[] {
  const backwards = [...items].reverse();
  return [...backwards.filter((_, index) => index % 2 === 1), ...backwards.filter((_, index) => index % 2 === 0)];
}
