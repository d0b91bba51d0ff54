import { NONE } from "./amount.js";
import { type Budget, limitOf, usedOf } from "./budget.js";
import { writeAmount } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import type { BudgetAmounts } from "./input.js";
import type { Time } from "./time.js";

/** A cent, where money has decimals. */
const LEAST_MONEY = 10_000_000;

/**
 * What a person is asked to add to an exhausted limit: half of it, and at least one unit, or a cent; where it is overdrawn by as much,
 * as a clock may be that nobody has looked at, that on top of it, or nothing could go on. In edge units.
 */
export function suggestExtension(budget: Budget, id: string, dimensions: Dimensions, time: Time): BudgetAmounts {
  if (!dimensions.has(id)) return {};
  const dimension = dimensions.get(id);
  const half = Math.ceil((budget.limits[id] ?? NONE) / 2);
  const least = Math.max(half, dimension.decimals > 0 ? LEAST_MONEY : 1);
  const over = Math.ceil(usedOf(budget, dimension, time) - limitOf(budget, id));
  return { [id]: writeAmount(dimension, over >= least ? over + least : least) };
}
