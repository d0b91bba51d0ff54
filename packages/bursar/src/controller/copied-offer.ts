import type { Budget } from "./budget.js";

/** The code of the warning, for `--disable-warning=BURSAR_COPIED_SUB_BUDGET`. */
const CODE = "BURSAR_COPIED_SUB_BUDGET";
const MOST = 100;

/** The amounts of the sub-budgets handed out last, oldest first. */
const recent = new Set<string>();
let warned = false;

/** Remembers what a sub-budget offers, so that a copy of it is recognised. */
export function noteOffer(offer: Budget): void {
  const key = keyOf(offer);
  if (key === null) return;
  recent.add(key);
  const [oldest] = recent;
  if (recent.size > MOST && oldest !== undefined) recent.delete(oldest);
}

/**
 * Warns once in a process of a budget with the very amounts of a sub-budget that is not that object. Most likely it is a copy, such as
 * `{ ...parent.getSubBudget(), maxIterations: 5 }`, and its caller takes it for a child.
 */
export function warnOfCopy(budget: Partial<Budget>): void {
  const key = keyOf(budget);
  if (warned || key === null || !recent.has(key)) return;
  warned = true;
  const message =
    "a BudgetController was made of a copy of a sub-budget: nothing is held for it in the parent, and what it uses does not count " +
    "there; pass the object that getSubBudget returned itself";
  process.emitWarning(message, { type: "BursarWarning", code: CODE });
}

/** The amounts of which a child gets half of what is left; null where none of them is limited. */
function keyOf(budget: Partial<Budget>): string | null {
  if (typeof budget !== "object" || budget === null) return null;
  const { maxCost, maxTokens, maxTime } = budget;
  const amounts = [maxCost, maxTokens, maxTime];
  // A budget that leaves some of them to the defaults was written by hand.
  if (amounts.includes(undefined) || amounts.every((amount) => amount === null)) return null;
  return JSON.stringify(amounts);
}
