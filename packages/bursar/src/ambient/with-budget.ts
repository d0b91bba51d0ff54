import { InputError, show } from "../core/errors.js";
import type { BudgetLimits } from "../core/input.js";
import { backgroundTimer } from "../runtime/system-clock.js";
import { type OpenBudget, type OpenBudgetOptions, openBudget } from "./open-budget.js";

/**
 * Runs a function inside a budget: every governed call it makes, however deep and however many at once, is paid for by it, and
 * one that does not fit is refused before it is made. Inside of another budget both count.
 *
 * What is given back and read only afterwards (a `Response`, a stream, an async iterable, a result of the AI SDK's `streamText`)
 * keeps the budget open until it has ended, was cancelled or failed, or was not read for ten minutes. The response of a server of
 * Node's, given back while it is written to, keeps it open until it is closed.
 *
 * @example
 * ```ts
 * const client = new OpenAI({ fetch: governedFetch() });
 * const answer = await withBudget({ cost_usd: 0.5, steps: 20 }, async () => agent(client, question));
 * ```
 */
export async function withBudget<Value>(
  limits: BudgetLimits,
  work: (budget: OpenBudget) => Value | Promise<Value>,
  options: OpenBudgetOptions = {},
): Promise<Value> {
  if (typeof work !== "function") throw new InputError("work", `is ${show(work)}; allowed: a function`);
  const budget = await openBudget(limits, options);
  let value: Value;
  try {
    value = await budget.run(() => work(budget));
    const lasting = budget.lasting(value, options.timer ?? backgroundTimer);
    if (lasting !== null) return lasting.value;
  } catch (error) {
    budget.excuse();
    await closed(budget);
    throw error;
  }
  await closed(budget);
  return value;
}

async function closed(budget: OpenBudget): Promise<void> {
  // Calls that were not waited for are settled afterwards, and the budget ends with them. What the work gave is not lost to a store
  // that fails now: the budget is still open there, and everything in it is recorded.
  const ending = budget.end().catch(() => {});
  if (!(await budget.isBusy().catch(() => true))) await ending;
}
