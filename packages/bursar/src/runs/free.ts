import { freeOn } from "../core/children.js";
import type { Store } from "../ports/store.js";

/** What a budget could still give, looking at its whole path, in ledger units. */
export async function freeFor(store: Store, budget: string, dimension: string): Promise<number> {
  if (!store.dimensions.has(dimension)) return Number.POSITIVE_INFINITY;
  return freeOn(await store.path(budget), store.dimensions.get(dimension), store.clock.now());
}
