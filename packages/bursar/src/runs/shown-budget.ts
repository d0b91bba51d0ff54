import type { BudgetId } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { Events } from "../core/events.js";
import type { Store } from "../ports/store.js";

/** What a budget has used, what it has left, and what is held of that, as a program may see it. */
export async function shownBudget(store: Store, id: BudgetId): Promise<JsonObject> {
  const budget = await store.budget(id);
  if (budget === null) return {};
  const events = Events.for(store.dimensions);
  const time = store.clock.now();
  return { used: events.consumed(budget, time), remaining: events.remaining(budget, time), held: events.held(budget) };
}
