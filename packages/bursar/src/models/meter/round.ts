import { AsyncLocalStorage } from "node:async_hooks";
import type { BudgetAmounts } from "../../core/input.js";
import type { Purse } from "../../runtime/purse.js";

const depths = new AsyncLocalStorage<number>();

/** How many agents stand around whoever asks: 0 for the first. */
export function currentDepth(): number {
  return depths.getStore() ?? 0;
}

/** Runs a function one level deeper: an agent that another one uses as a tool. */
export function deeper<Value>(run: () => Value): Value {
  return depths.run(currentDepth() + 1, run);
}

/**
 * The same purse for one round of an agent's loop: its first reservation asks for an iteration too, and for how deep it is nested.
 * It is one reservation, because a round that lands exactly on the limit is legal, and so is the call it is made for. What no
 * budget limits is not asked for.
 */
export async function inRound(purse: Purse, depth: number = currentDepth()): Promise<Purse> {
  const path = await purse.store.path(purse.budget);
  const isLimited = (id: string) => path.some(({ limits }) => limits[id] !== undefined);
  const amounts: BudgetAmounts = {
    ...(isLimited("iterations") && { iterations: 1 }),
    ...(depth > 0 && isLimited("depth") && { depth }),
  };
  return Object.keys(amounts).length === 0 ? purse : { ...purse, round: { amounts, counted: false } };
}
