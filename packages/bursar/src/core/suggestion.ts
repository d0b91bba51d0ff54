import { MAX_AMOUNT, NONE } from "./amount.js";
import { type Budget, capOf, limitOf, type Path, usedOf } from "./budget.js";
import { type Dimension, writeAmount } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { roomAbove } from "./extension.js";
import type { BudgetAmounts } from "./input.js";
import type { Time } from "./time.js";

/** A cent, where money has decimals. */
const LEAST_MONEY = 10_000_000;

/** Which dimension has run out, and how much of it was asked for; 0 where nobody knows. In ledger units. */
interface Missing {
  readonly dimension: string;
  readonly asked: number;
  /** What the smallest of several calls asks for, where they ask together; all of it unless it is said. */
  readonly smallest?: number;
}

/**
 * What a person is asked to add to an exhausted limit, the first budget's of the path: half of it, as it is by now, and at least one
 * unit, or a cent. So what grows bit by bit asks ever more seldom.
 * Where that is too little for what was asked for, or for a clock that nobody has looked at, what is missing comes on top of it, or one
 * yes would not let it go on; but no more than those above have room for, or a yes would be refused. Where that is not even enough for the
 * smallest call, it is what that call needs: a yes is then refused with the name of the budget above that has no room. In edge units.
 */
export function suggestExtension(path: Path, missing: Missing, dimensions: Dimensions, time: Time): BudgetAmounts {
  const { dimension: id, asked, smallest = asked } = missing;
  const [budget, ...above] = path;
  if (budget === undefined || !dimensions.has(id)) return {};
  const dimension = dimensions.get(id);
  const limit = budget.limits[id] ?? NONE;
  const least = halfOf(limit, dimension);
  const half = halfOf(limit + (budget.extended[id] ?? NONE), dimension);
  const over = overBy(budget, dimension, asked, time);
  // What is used to the last unit is exhausted; what is asked for may be the last.
  const wanted = (asked > 0 ? over <= half : over < half) ? half : roundedUp(over + half);
  if (wanted === least) return { [id]: writeAmount(dimension, least) };
  const room = Math.min(roomAbove(budget, above, dimension, time), MAX_AMOUNT - limitOf(budget, id));
  const needed = Math.min(leastExtension(budget, dimension, smallest, time), wanted);
  return { [id]: writeAmount(dimension, Math.max(least, needed, Math.min(wanted, room))) };
}

function halfOf(limit: number, { decimals }: Dimension): number {
  return Math.max(Math.ceil(limit / 2), decimals > 0 ? LEAST_MONEY : 1);
}

/** What several calls that wait for the same dimension ask for together. In ledger units. */
export function askedTogether(id: string, each: readonly number[], dimensions: Dimensions): number {
  const isSum = dimensions.has(id) && dimensions.get(id).kind === "sum";
  const together = isSum ? each.reduce((sum, asked) => sum + asked, 0) : Math.max(0, ...each);
  return Math.min(together, MAX_AMOUNT);
}

/**
 * The smallest amount that lets a call go on which asks for `asked` of a dimension; 0 where it fits already. What is held for others is
 * not counted: a call waits for that by itself. In ledger units.
 */
export function leastExtension(budget: Budget, dimension: Dimension, asked: number, time: Time): number {
  const used = Math.floor(usedOf(budget, dimension, time));
  const cap = capOf(budget, dimension.id);
  if (dimension.kind === "peak") return Math.max(0, Math.max(used, asked) - cap);
  // A limit that is used up refuses every call, also one that asks for nothing of it.
  return Math.max(0, used + (dimension.kind === "clock" ? 1 : Math.max(1, asked)) - cap);
}

/** By how much a budget would be overdrawn, had it let pass what was asked for. */
function overBy(budget: Budget, dimension: Dimension, asked: number, time: Time): number {
  const used = usedOf(budget, dimension, time);
  const wanted = { sum: used + asked, peak: Math.max(used, asked), clock: used }[dimension.kind];
  return Math.ceil(wanted - capOf(budget, dimension.id));
}

/** A figure that people can take in: two digits, and zeros. */
export function roundedUp(amount: number): number {
  const unit = 10 ** Math.max(0, String(Math.ceil(amount)).length - 2);
  return Math.ceil(amount / unit) * unit;
}
