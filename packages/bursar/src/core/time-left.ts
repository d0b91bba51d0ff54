import type { Amounts } from "./amount.js";
import { type Budget, freeOf, limitOf, type Path, usedOf } from "./budget.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import type { Time } from "./time.js";

/** The least time that a path has left; infinite without a limit. A clock that only warns stops no call. */
export function timeLeft(path: Path, time: Time, dimensions: Dimensions): number {
  let left = Number.POSITIVE_INFINITY;
  for (let index = 0; index < path.length; index++) {
    const budget = path[index] as Budget;
    if (budget.deadline !== null) left = Math.min(left, budget.deadline - time.instant);
    for (const clock of clocksOf(budget, dimensions)) {
      // The final answer may use the time that was set aside for it.
      const wrappingUp = path[index - 1]?.funding === "aside";
      const free = wrappingUp ? limitOf(budget, clock.id) - usedOf(budget, clock, time) : freeOf(budget, clock, time);
      left = Math.min(left, free);
    }
  }
  return Math.max(0, left);
}

interface KnownClocks {
  readonly dimensions: Dimensions;
  readonly clocks: readonly Dimension[];
}

// Neither the limits nor the policies of a budget ever change, and most budgets limit no clock.
const known = new WeakMap<Amounts, KnownClocks>();

/** The clocks that can stop a call in a budget. */
function clocksOf({ limits, policies }: Budget, dimensions: Dimensions): readonly Dimension[] {
  const before = known.get(limits);
  if (before !== undefined && before.dimensions === dimensions) return before.clocks;
  const ids = Object.keys(limits).filter((id) => policies[id] !== "soft_warn" && dimensions.has(id));
  const clocks = ids.map((id) => dimensions.get(id)).filter(({ kind }) => kind === "clock");
  known.set(limits, { dimensions, clocks });
  return clocks;
}
