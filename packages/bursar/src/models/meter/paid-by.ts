import { currentPurse, type Purse } from "../../runtime/purse.js";
import { BudgetExceededError } from "./budget-exceeded-error.js";

/** What pays for a call: the budget that was given, else the one it is made in. */
export interface PaidBy {
  /** The budget that pays; the one that a call is made in, unless it is said. */
  readonly budget?: { readonly purse: Purse };
}

/** @throws {BudgetExceededError} when nobody pays: such a call is not made. */
export function purseFor({ budget }: PaidBy): Purse {
  const around = currentPurse();
  // Whoever holds something for this call further out hands it down, also to another budget than his own.
  const { hold, round } = around ?? {};
  if (budget !== undefined) return { ...budget.purse, ...(hold && { hold }), ...(round && { round }) };
  if (around !== null) return around;
  throw new BudgetExceededError({
    code: "no_budget",
    message: "this call is made outside of any budget, so it is not made",
    hint: "make it inside withBudget(limits, …), or give the adapter a budget",
  });
}
