import type { CallId } from "../core/call.js";
import type { CommitOperation, OutcomeOf } from "../core/operation.js";
import type { BudgetCheckResult, BudgetContext, PreCall } from "./context.js";

/** Looks at the budget before a host call is made, and holds what the call may use at most. */
export function checkBudgetPreCall(context: BudgetContext, call: PreCall): BudgetCheckResult {
  return context.checkPreCall(call);
}

/**
 * Records what a host call used, from its result: its own fields, its `usage` and its `metadata`.
 *
 * @example
 * ```ts
 * recordBudgetConsumption(context, check.call_id, { value: "…", metadata: { usage: { prompt_tokens: 12 } } });
 * ```
 */
export function recordBudgetConsumption(
  context: BudgetContext,
  call_id: CallId,
  result: unknown,
  input?: unknown,
): OutcomeOf<CommitOperation> {
  return context.recordConsumption(call_id, { metadata: result, input, output: result });
}
