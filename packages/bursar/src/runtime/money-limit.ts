import type { Amounts } from "../core/amount.js";
import type { BudgetId, Path } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import type { Operation } from "../core/operation.js";

const MONEY = "cost_usd";

/** Whether a budget on the path limits money, be it to warn alone. Where none does, models may be asked that have no price. */
export function limitsMoney(path: Path): boolean {
  return path.some(({ limits }) => limits[MONEY] !== undefined);
}

/**
 * Tells the chain of a call to a model without a price that its money is not counted, which is not the same as no money; nothing where the
 * call has reported what it cost.
 */
export function costUnknown(
  { cost_usd }: Amounts,
  about: { readonly budget: BudgetId; readonly call_id: CallId; readonly capability_id: string },
): readonly Operation[] {
  const { budget, call_id, capability_id } = about;
  if (cost_usd !== undefined) return [];
  const action = { action_type: "CostUnknown", data: { budget, call_id, capability_id } };
  return [{ op: "record", budget, action }];
}
