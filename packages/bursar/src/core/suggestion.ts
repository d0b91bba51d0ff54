import { NONE } from "./amount.js";
import type { Budget } from "./budget.js";
import { writeAmount } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import type { BudgetAmounts } from "./input.js";

/** A cent, where money has decimals. */
const LEAST_MONEY = 10_000_000;

/** What a person is asked to add to an exhausted limit: half of it, and at least one unit, or a cent. In edge units. */
export function suggestExtension(budget: Budget, id: string, dimensions: Dimensions): BudgetAmounts {
  if (!dimensions.has(id)) return {};
  const dimension = dimensions.get(id);
  const half = Math.ceil((budget.limits[id] ?? NONE) / 2);
  return { [id]: writeAmount(dimension, Math.max(half, dimension.decimals > 0 ? LEAST_MONEY : 1)) };
}
