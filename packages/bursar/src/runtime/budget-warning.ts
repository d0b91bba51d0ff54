import { writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Notice } from "../core/notice.js";

/** A threshold that a budget has crossed, in edge units. */
export interface BudgetWarning {
  /** Whose threshold it is: the budget of the call or one above it, such as a session's. */
  readonly budget: string;
  readonly dimension: string;
  /** The threshold. */
  readonly percent: number;
  /** What was used when it was crossed. */
  readonly consumed: number;
  readonly limit: number;
}

/** The warnings among what budgets had to tell. */
export function warningsOf(notices: readonly Notice[], dimensions: Dimensions): readonly BudgetWarning[] {
  return notices
    .filter(({ kind }) => kind === "Warning")
    .map(({ budget, dimension, percent, consumed, limit }) => {
      const edge = (value: number) => writeAmount(dimensions.get(dimension), value);
      return { budget, dimension, percent, consumed: edge(consumed), limit: edge(limit) };
    });
}
