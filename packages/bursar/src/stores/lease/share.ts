import type { Amount, Amounts } from "../../core/amount.js";
import { freeOf, type Path } from "../../core/budget.js";
import type { Dimensions } from "../../core/dimensions.js";
import type { Time } from "../../core/time.js";

/**
 * How much to lease: what is wanted, but of what is left no more than half of an equal share, so that near the limit slices
 * shrink and everybody still gets some; in any case what is needed right now.
 */
export function shareOf(free: number, need: number, want: number, holders: number): number {
  return Math.min(want, Math.max(need, Math.floor(free / (2 * Math.max(1, holders)))));
}

const UNLIMITED = Number.POSITIVE_INFINITY;

/** The slice to ask for, given what the path has free. */
export function sliceOf(
  path: Path,
  need: Amounts,
  want: Amounts,
  holders: number,
  time: Time,
  dimensions: Dimensions,
): Amounts {
  const slice: Record<string, Amount> = {};
  for (const id in { ...want, ...need }) {
    const dimension = dimensions.get(id);
    const free = path.reduce((least, budget) => Math.min(least, freeOf(budget, dimension, time)), UNLIMITED);
    const needed = need[id] ?? 0;
    slice[id] = shareOf(Math.max(0, free), needed, Math.max(needed, want[id] ?? 0), holders) as Amount;
  }
  return slice;
}

export function added(a: Amounts, b: Amounts): Amounts {
  const sum: Record<string, Amount> = { ...a };
  for (const id in b) sum[id] = ((sum[id] ?? 0) + (b[id] as number)) as Amount;
  return sum;
}

export function times(amounts: Amounts, factor: number): Amounts {
  const product: Record<string, Amount> = {};
  for (const id in amounts) product[id] = Math.floor((amounts[id] as number) * factor) as Amount;
  return product;
}

/** Names every dimension, because what is not named would be charged as reserved. */
export function zeros(amounts: Amounts): Amounts {
  return times(amounts, 0);
}
