import { type BudgetLimits, readLimits } from "../core/input.js";
import type { Store } from "../ports/store.js";
import { sessionBudget } from "./session-budget.js";

/** Opens a session's budget with these limits, if it is not there yet. */
export async function openSession(store: Store, id: string, limits: BudgetLimits): Promise<void> {
  const budget = sessionBudget(id);
  if ((await store.budget(budget)) !== null) return;
  const grant = { kind: "limits", limits: readLimits(limits, store.dimensions) } as const;
  const opening = { id: budget, scope: "shared", grant } as const;
  await store.apply([{ op: "open", parent: null, opening }]).catch(async (error: unknown) => {
    // Somebody else may have been faster.
    if ((await store.budget(budget)) === null) throw error;
  });
}
