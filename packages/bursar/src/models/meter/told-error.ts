import type { OutOfTime } from "../../runtime/time-limit.js";
import { BudgetExceededError } from "./budget-exceeded-error.js";
import { HINTS } from "./refusal.js";

/** An error as it is told to whoever has made a call: what came from a budget says so, wherever it was refused or broken off. */
export function toldError(error: unknown): unknown {
  if (isOutOfTime(error)) {
    const code = "budget_exceeded";
    const { message, spent } = error;
    const which = spent ? { scope: spent.budget, dimension: spent.dimension } : {};
    return new BudgetExceededError({ code, message, hint: HINTS[code], ...which }, { cause: error });
  }
  return BudgetExceededError.from(error) ?? error;
}

/** By its code, because the gate may be of another copy of this package, as with a preloaded one. */
export function isOutOfTime(error: unknown): error is OutOfTime {
  return error instanceof Error && "code" in error && error.code === "out_of_time";
}
