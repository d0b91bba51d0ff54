import type { BudgetId } from "../../core/budget.js";
import { parseLine } from "../../core/chain/link.js";
import { writeAmount } from "../../core/dimension.js";
import { STANDARD } from "../../core/dimensions.js";
import { readAmounts } from "../../core/input.js";
import type { Operation } from "../../core/operation.js";
import type { Store } from "../../ports/store.js";

/** How a call was spared: answered with what an identical one got, or with what was kept, or sent along with others. */
export type SavedKind = "in_flight" | "cache" | "embeddings";

export interface Saving {
  readonly kind: SavedKind;
  readonly call_id: string;
  readonly model: string;
  /** What an identical call was charged, in USD; 0 where only a request was spared. */
  readonly saved_usd: number;
}

const ACTION = "Saved";
const COST = STANDARD.get("cost_usd");
/** A settlement that had to be written twice stands close to itself. */
const MOST_REMEMBERED = 10_000;

/** Leaves word in the caller's chain of what a call did not cost; it is written together with the settlement. */
export function saved(budget: BudgetId, { kind, saved_usd, call_id, model }: Saving): Operation {
  return { op: "record", budget, action: { action_type: ACTION, data: { budget, kind, saved_usd, call_id, model } } };
}

/**
 * What a budget and those below it, as far as they write into the same chain, have saved so far, in USD.
 *
 * @example
 * ```ts
 * await savedUsd(store, "team"); // 1.25
 * ```
 */
export async function savedUsd(store: Store, budget: BudgetId): Promise<number> {
  const chain = await chainOf(store, budget);
  const within = new Set<unknown>([budget]);
  const seen = new Set<unknown>();
  let sum = 0;
  for await (const line of chain === null ? [] : store.chain(chain)) {
    // Most links are neither, and to parse them would take longer than all the rest.
    if (!line.includes(`"${ACTION}"`) && !line.includes('"Allocation"')) continue;
    const { action_type, event, data } = parseLine(line);
    if (event === "Allocation" && within.has(data.parent)) within.add(data.run_id);
    if (action_type !== ACTION || !within.has(data.budget) || seen.has(data.call_id)) continue;
    seen.add(data.call_id);
    for (const oldest of seen) if (seen.size > MOST_REMEMBERED) seen.delete(oldest);
    sum += nanoIn(data.saved_usd);
  }
  return writeAmount(COST, sum);
}

/** What is no amount saves nothing, and takes nothing back. */
function nanoIn(saved_usd: unknown): number {
  if (typeof saved_usd !== "number" || !(saved_usd > 0)) return 0;
  return readAmounts({ cost_usd: saved_usd }, STANDARD).cost_usd ?? 0;
}

/** The chain that a budget writes into: its own, else that of the nearest above it that has one. */
async function chainOf(store: Store, budget: BudgetId): Promise<string | null> {
  for (const { id } of await store.path(budget)) if ((await store.head(id)) !== null) return id;
  return null;
}
