import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import type { Store } from "../ports/store.js";
import { dimensionViews } from "./dimension-view.js";
import { savedByBudget } from "./savings.js";
import type { PaidView } from "./shapes.js";

/** Keys of the gateway, each with how the budget stands that pays for what is asked with it. */
export async function keyViews<Key extends { readonly budget: string }>(
  store: Store,
  keys: readonly Key[],
): Promise<readonly (Key & PaidView)[]> {
  // Many keys may be paid for by one budget.
  const paid = new Map<string, PaidView>();
  for (const { budget } of keys) if (!paid.has(budget)) paid.set(budget, await paidView(store, budget));
  return keys.map((key) => ({ ...key, ...(paid.get(key.budget) ?? NOTHING) }));
}

const NOTHING: PaidView = { usage: {}, held: {}, saved_usd: 0, dimensions: [] };

async function paidView(store: Store, id: string): Promise<PaidView> {
  const budget = await store.budget(id);
  if (budget === null) return NOTHING;
  const time = store.clock.now();
  const { dimensions } = store;
  return {
    usage: Events.for(dimensions).consumed(budget, time),
    held: heldIn(budget, dimensions),
    saved_usd: await savedByBudget(store, id),
    // Nobody knows at which rate clients will ask, nor keeps when a budget was used up.
    dimensions: dimensionViews(budget, dimensions, { time, rates: null, exhausted: () => null }),
  };
}
