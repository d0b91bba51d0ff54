import type { BudgetId } from "../core/budget.js";

const SESSION = "session:";
const TENANT = "tenant:";

/** The budget that the runs of a session share. */
export function sessionBudget(session: string): BudgetId {
  return `${SESSION}${session}`;
}

/** The session that a tenant's runs are in; nobody else may call one so. */
export function tenantSession(tenant: string): string {
  return `${TENANT}${tenant}`;
}

/** Whether runs share a budget as their session or tenant; runs name their own after themselves. */
export function isSessionBudget(budget: BudgetId): boolean {
  return budget.startsWith(SESSION);
}

/** Whether it is the budget of a tenant. */
export function isTenantBudget(budget: BudgetId): boolean {
  return budget.startsWith(sessionBudget(TENANT));
}
