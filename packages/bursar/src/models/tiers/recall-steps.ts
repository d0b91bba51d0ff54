import type { JsonObject } from "../../core/chain/canonical.js";
import type { Store } from "../../ports/store.js";
import { unlessArchived } from "../../runtime/unless-archived.js";
import { isObject, objectOf } from "../wire/json-object.js";
import type { Course } from "./course.js";
import type { TierList } from "./tier-list.js";

/** What the chain is told when calls go to another tier, and when a step begins at the one that they are at. */
export const SWITCHED = "TierSwitched";
export const PINNED = "TierPinned";

/** The chain of a run, and its budget. */
interface About {
  readonly store: Store;
  readonly chain: string;
  readonly budget: string;
}

/**
 * Looks up which tiers the steps of a run stay at that another process has begun. A run is driven by one process at a time, so that
 * this is needed once; whatever it finds stands above the floor as it is now, or is forgotten.
 */
export async function recallSteps(course: Course, about: About, list: TierList): Promise<void> {
  if (course.recalled) return;
  // A run that shares the budget of the one above it writes into that one's chain, which is named like the budget.
  for (const each of new Set([about.chain, about.budget])) await unlessArchived(recallFrom(each, course, about, list));
  course.recalled = true;
}

/** Nothing is recalled of a chain whose front is not there any more: its steps begin anew. */
async function recallFrom(chain: string, course: Course, { store, budget }: About, list: TierList): Promise<void> {
  for await (const line of store.chain(chain)) {
    const data = aboutTiers(line);
    if (data === null || data.list !== list.name || data.budget !== budget || typeof data.step !== "string") continue;
    const tier = list.choosable.findIndex(({ name }) => name === objectOf(data.to).tier);
    if (tier !== -1) course.keep(data.step, { tier, reason: "step", told: true });
  }
}

/** What a link says about tiers; null where it is about something else. To parse all of a long chain would take a while. */
function aboutTiers(line: string): JsonObject | null {
  if (!line.includes(SWITCHED) && !line.includes(PINNED)) return null;
  const { action_type, data } = JSON.parse(line) as { readonly action_type: string; readonly data: JsonObject };
  return (action_type === SWITCHED || action_type === PINNED) && isObject(data) ? data : null;
}
