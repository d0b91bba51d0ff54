import type { BudgetId } from "../../core/budget.js";
import type { Operation } from "../../core/operation.js";
import type { Store } from "../../ports/store.js";
import { SAVED, writeUsd } from "../../runtime/saved.js";
import { placeOf, Savings } from "../../runtime/savings.js";

/** How a call was spared: answered with what an identical one got, or with what was kept, or sent along with others. */
export type SavedKind = "in_flight" | "cache" | "embeddings";

export interface Saving {
  readonly kind: SavedKind;
  readonly call_id: string;
  readonly model: string;
  /** What an identical call was charged, in USD; 0 where only a request was spared. */
  readonly saved_usd: number;
}

/** Leaves word in the caller's chain of what a call did not cost; it is written together with the settlement. */
export function saved(budget: BudgetId, { kind, saved_usd, call_id, model }: Saving): Operation {
  return { op: "record", budget, action: { action_type: SAVED, data: { budget, kind, saved_usd, call_id, model } } };
}

/**
 * What a budget and those below it, as far as they write into the same chain, have saved so far, in USD.
 *
 * @example
 * ```ts
 * await savedUsd(store, "team"); // 1.25
 * ```
 */
export async function savedUsd(store: Store, budget: BudgetId): Promise<number> {
  const { chain } = await placeOf(store, budget);
  if (chain === null) return 0;
  const savings = new Savings(chain);
  await savings.catchUp(store);
  return writeUsd(savings.nanoOf(budget));
}
