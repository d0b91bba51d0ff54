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

/** What a request has to have in common with a hold to take it. */
export interface Meeting {
  readonly store: Store;
  readonly budget: BudgetId;
  readonly model: string;
  /** Who has left it; null for those that anybody takes, because every request of the process is metered. */
  readonly leaver: string | null;
}

/** Leaves a hold for whoever meters the next request that meets it. It is gone again once it is disposed. */
export function leaveHold(meeting: Meeting, waiting: WaitingHold): Disposable {
  const { store } = meeting;
  const shelf: Shelf = stores.get(store) ?? new Map();
  stores.set(store, shelf);
  const key = keyOf(meeting);
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
export function takeHold(meeting: Meeting): WaitingHold | null {
  const holds = stores.get(meeting.store)?.get(keyOf(meeting));
  const [first = null] = holds ?? [];
  if (first !== null) holds?.delete(first);
  return first;
}

function keyOf({ budget, model, leaver }: Meeting): string {
  return JSON.stringify([budget, model, leaver]);
}
