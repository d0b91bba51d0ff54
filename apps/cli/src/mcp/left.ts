import type { BudgetLimits, BudgetState } from "bursar";
import type { Workplace } from "./workplace.js";

/** How the budget of a workplace stands. */
export function budgetLeft({ budgetId }: Workplace, { limits, used, held, remaining }: BudgetState): object {
  return { budget_id: budgetId, limits, used, held, remaining };
}

/** Limits as a sentence has them. */
export function limitsText(limits: BudgetLimits): string {
  const parts = Object.entries(limits).flatMap(([id, limit]) =>
    limit === null || limit === undefined ? [] : [`${id} ${limit}`],
  );
  return parts.length === 0 ? "no limit" : parts.join(", ");
}
