import type { Amounts } from "../core/amount.js";
import type { BudgetId, Path } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import { BursarError } from "../core/errors.js";
import type { Operation } from "../core/operation.js";
import type { Pricing } from "../ports/model.js";
import type { Store } from "../ports/store.js";

const MONEY = "cost_usd";

/** Whether a budget on the path limits money, be it to warn alone. Where none does, models may be asked that have no price. */
export function limitsMoney(path: Path): boolean {
  return path.some(({ limits }) => limits[MONEY] !== undefined);
}

/**
 * Quotes a call. One whose model has no price is quoted without money where no budget on the path limits it; the path is read for such a
 * call alone.
 */
export async function quoteWithin<Quote>(
  { store, budget }: { readonly store: Store; readonly budget: BudgetId },
  quote: (pricing: Pricing) => Promise<Quote>,
): Promise<Quote> {
  try {
    return await quote({ unpriced: false });
  } catch (error) {
    const isUnpriced = error instanceof BursarError && error.code === "unknown_price";
    if (!isUnpriced || limitsMoney(await store.path(budget))) throw error;
    return quote({ unpriced: true });
  }
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
