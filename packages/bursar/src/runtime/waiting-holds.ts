import type { BudgetId } from "../core/budget.js";
import type { Store } from "../ports/store.js";
import type { Hold, Round } from "./purse.js";

/** A hold that cannot be handed down along the call itself, because a framework stands between that loses who has called. */
export interface WaitingHold {
  readonly hold: Hold;
  readonly round: Round | null;
}

type Shelf = Map<string, Set<WaitingHold>>;

// Shared by the copies of this module in one process, as purses are.
const KEY = Symbol.for("bursar.holds.1");
const shared = globalThis as { [KEY]?: WeakMap<Store, Shelf> };
shared[KEY] ??= new WeakMap<Store, Shelf>();
const stores: WeakMap<Store, Shelf> = shared[KEY];

/** Leaves a hold for whoever meters the next request of this budget and model. It is gone again once it is disposed. */
export function leaveHold(store: Store, budget: BudgetId, model: string, waiting: WaitingHold): Disposable {
  const shelf: Shelf = stores.get(store) ?? new Map();
  stores.set(store, shelf);
  const key = keyOf(budget, model);
  const holds = shelf.get(key) ?? new Set();
  shelf.set(key, holds);
  holds.add(waiting);
  return {
    [Symbol.dispose]: () => {
      holds.delete(waiting);
      if (holds.size === 0 && shelf.get(key) === holds) shelf.delete(key);
    },
  };
}

/**
 * Takes the oldest of them. Which call it was left for does not matter: every call that waits sends a request and takes one, so that
 * in the end each of them has been taken.
 */
export function takeHold(store: Store, budget: BudgetId, model: string): WaitingHold | null {
  const holds = stores.get(store)?.get(keyOf(budget, model));
  const [first = null] = holds ?? [];
  if (first !== null) holds?.delete(first);
  return first;
}

function keyOf(budget: BudgetId, model: string): string {
  return JSON.stringify([budget, model]);
}
