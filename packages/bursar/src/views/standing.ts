import type { Budget, Path } from "../core/budget.js";
import { paused, timeAt } from "../core/time.js";
import type { Store } from "../ports/store.js";
import { claimOf } from "../runs/claim.js";
import { isSessionBudget } from "../runs/session-budget.js";

/**
 * A budget as it stands. The clock of a run whose worker is gone has stopped with the last word of that worker, which is what whoever takes the
 * run up will write; until then the store does not say so. What runs share is driven by nobody.
 */
export async function standing(store: Store, budget: Budget): Promise<Budget> {
  if (budget.ended || budget.watch.since === null || isSessionBudget(budget.id)) return budget;
  const { worker, expires, spoke } = await claimOf(store, budget.id);
  const time = store.clock.now();
  if (worker === null || expires > time.instant) return budget;
  return { ...budget, watch: paused(budget.watch, timeAt(time, spoke)) };
}

/** The same for a budget and all above it. */
export async function standingPath(store: Store, budget: string): Promise<Path> {
  const path = await store.path(budget);
  return Promise.all(path.map((each) => standing(store, each)));
}
