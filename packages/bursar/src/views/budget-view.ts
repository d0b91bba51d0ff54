import type { Store } from "../ports/store.js";
import { dimensionViews } from "./dimension-view.js";
import { ownerOf } from "./owner.js";
import type { BudgetView } from "./shapes.js";
import { standing } from "./standing.js";

/** How a budget stands by itself, whoever it belongs to; null when there is none of this id. */
export async function budgetView(store: Store, id: string): Promise<BudgetView | null> {
  const found = await store.budget(id);
  if (found === null) return null;
  const budget = await standing(store, found);
  const run = await store.document("run", id);
  // Several may use it at once, so nobody knows at which rate it will go on.
  const prospect = { time: store.clock.now(), rates: null, exhausted: () => null };
  return {
    budget: id,
    owner: ownerOf(id, { id: run?.id ?? "", budget: id }),
    dimensions: dimensionViews(budget, store.dimensions, prospect),
  };
}
