// What the examples beside this file print last: what was used of every limit.
import { Events } from "bursar";

/**
 * @param {string} title
 * @param {{ limits: object, used: object }} state as `budget.state()` gives it
 */
export function printBill(title, { limits, used }) {
  console.log(`\n${title}`);
  const spent = /** @type {Record<string, number>} */ (used);
  for (const [dimension, limit] of Object.entries(limits)) {
    console.log(`  ${dimension.padEnd(20)} ${spent[dimension] ?? 0} of ${limit}`);
  }
}

/**
 * The same for a budget in a store, such as that of a run.
 *
 * @param {import("bursar").Store} store
 * @param {string} id
 * @param {string} [title]
 */
export async function printBillOf(store, id, title = `Budget ${id}:`) {
  const budget = await store.budget(id);
  if (budget === null) throw new Error(`there is no budget ${id}`);
  const events = new Events(store.dimensions);
  const used = events.consumed(budget, store.clock.now());
  // A run has a limit for everything; what it has not touched would only make the list longer.
  const limits = Object.entries(events.limits(budget)).filter(([dimension]) => used[dimension] !== 0);
  printBill(title, { limits: Object.fromEntries(limits), used });
}
