import { covers, freeUnder, type Path } from "../../core/budget.js";
import type { Dimensions } from "../../core/dimensions.js";
import { termsOf } from "../../core/terms.js";
import type { Time } from "../../core/time.js";

/**
 * What is neither used nor held, by dimension, on the whole path: the least of it counts. What only warns limits nobody, and budgets
 * above one that is held for it are not asked.
 */
export function leftOn(path: Path, time: Time, dimensions: Dimensions): Record<string, number> {
  const left: Record<string, number> = {};
  const covered = new Set<string>();
  for (const budget of path) {
    for (const { id, dimension, policy, cap, exhausted } of termsOf(budget, dimensions)) {
      if (policy === "soft_warn" || covered.has(id)) continue;
      const free = exhausted ? 0 : freeUnder(cap, budget, dimension, time);
      left[id] = Math.min(left[id] ?? Number.POSITIVE_INFINITY, free);
    }
    if (budget.funding === "path") continue;
    for (const { id } of dimensions.all) if (covers(budget, id)) covered.add(id);
  }
  return left;
}
