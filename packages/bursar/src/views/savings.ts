import type { Store } from "../ports/store.js";
import { writeUsd } from "../runtime/saved.js";
import { placeOf, Savings } from "../runtime/savings.js";
import { unlessArchived } from "../runtime/unless-archived.js";

/** So many chains are remembered, and so many keys are looked at. */
const MOST_CHAINS = 1000;
const MOST_KEYS = 100;

const known = new WeakMap<Store, Map<string, Savings>>();

/** What the clients of the gateway have saved, in USD: those whose keys are still taken. */
export async function savedByKeys(store: Store): Promise<number> {
  const budgets = new Set<string>();
  for await (const { budget } of store.latest("key", { status: "active", limit: MOST_KEYS, only: [] })) {
    if (budget !== null) budgets.add(budget);
  }
  const places = await Promise.all([...budgets].map(async (id) => ({ id, ...(await placeOf(store, id)) })));
  // What one has saved is part of what one above it has, as long as both write into the same chain.
  const outermost = places.filter(({ above }) => !above.some((id) => budgets.has(id)));
  const saved = await Promise.all(outermost.map(({ id, chain }) => nanoIn(store, id, chain)));
  return writeUsd(saved.reduce((sum, nano) => sum + nano, 0));
}

/** What a budget has saved, with those below it that write into the same chain, in USD. */
export async function savedByBudget(store: Store, budget: string): Promise<number> {
  const { chain } = await placeOf(store, budget);
  return writeUsd(await nanoIn(store, budget, chain));
}

/** In billionths of a dollar. What was read of a chain is remembered, so that only what has grown since is read again. */
async function nanoIn(store: Store, budget: string, chain: string | null): Promise<number> {
  if (chain === null) return 0;
  const all = known.get(store) ?? new Map<string, Savings>();
  known.set(store, all);
  const savings = all.get(chain) ?? new Savings(chain);
  all.delete(chain);
  all.set(chain, savings);
  for (const oldest of all.keys()) if (all.size > MOST_CHAINS) all.delete(oldest);
  await unlessArchived(savings.catchUp(store));
  return savings.nanoOf(budget);
}
