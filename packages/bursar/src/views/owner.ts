import type { RunRecord } from "../runs/record.js";
import { isSessionBudget, isTenantBudget } from "../runs/session-budget.js";
import type { BudgetView } from "./shapes.js";

/** What a budget on the path of a run is to that run: ids are long, and on a run's own page they say little. */
export function ownerOf(owner: string, { id, budget }: Pick<RunRecord, "budget" | "id">): BudgetView["owner"] {
  if (owner === id) return "run";
  if (isTenantBudget(owner)) return "tenant";
  if (isSessionBudget(owner)) return "session";
  return owner === budget ? "shared" : "parent";
}
