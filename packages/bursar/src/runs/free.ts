import type { Path } from "../core/budget.js";
import { freeOn } from "../core/children.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Time } from "../core/time.js";

/** What a budget could still give, looking at its whole path, in ledger units. A warning stops nobody. */
export function freeFor(path: Path, dimension: string, time: Time, dimensions: Dimensions): number {
  if (!dimensions.has(dimension)) return Number.POSITIVE_INFINITY;
  const strict = path.filter(({ policies }) => policies[dimension] !== "soft_warn");
  return freeOn(strict, dimensions.get(dimension), time);
}
