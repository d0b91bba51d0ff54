import type { OpenBudget } from "../../../src/ambient/open-budget.js";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { parseLine } from "../../../src/core/chain/link.js";
import type { Store } from "../../../src/ports/store.js";

/** What a chain says was saved, link by link. */
export async function savedIn(store: Store, chain: string): Promise<readonly JsonObject[]> {
  const saved: JsonObject[] = [];
  for await (const line of store.chain(chain)) {
    const { action_type, data } = parseLine(line);
    if (action_type === "Saved") saved.push(data);
  }
  return saved;
}

/** The same for a budget that calls are made in. */
export function savedBy({ purse, id }: OpenBudget): Promise<readonly JsonObject[]> {
  return savedIn(purse.store, id);
}
