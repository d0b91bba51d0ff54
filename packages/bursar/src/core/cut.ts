import { type Amount, type Amounts, NONE } from "./amount.js";
import { covers, type Path, usedOf } from "./budget.js";
import type { Dimensions } from "./dimensions.js";
import { termsOf } from "./terms.js";
import type { Time } from "./time.js";

const INPUT = "llm_input_tokens";
const OUTPUT = "llm_output_tokens";
const TOTAL = "llm_tokens";

/**
 * What a call that can do with less asks for: as much as it wants, or as its budgets have left, but no less than it needs. What
 * is held for calls in flight counts as left, because a call would rather wait for it than be cut to a sliver: whoever
 * finds it held is told that the budget is busy.
 */
export function cutToRoom(path: Path, asked: Amounts, least: Amounts, time: Time, dimensions: Dimensions): Amounts {
  const cut: Record<string, Amount> = { ...asked };
  const room = (id: string) => (dimensions.has(id) ? roomOf(path, id, time, dimensions) : Number.POSITIVE_INFINITY);
  for (const id of Object.keys(least)) {
    const whole = cut[id] ?? NONE;
    cut[id] = within(whole, least[id] ?? NONE, room(id));
  }
  const output = cut[OUTPUT];
  if (least[OUTPUT] === undefined || output === undefined) return cut;
  // Output counts in the total too, which is cut with it.
  const beside = cut[INPUT] ?? NONE;
  const fits = within(output, least[OUTPUT], room(TOTAL) - beside);
  cut[OUTPUT] = fits;
  if (cut[TOTAL] !== undefined) cut[TOTAL] = Math.max(cut[TOTAL] - ((asked[OUTPUT] ?? NONE) - fits), NONE) as Amount;
  return cut;
}

function within(whole: number, least: number, room: number): Amount {
  return Math.min(whole, Math.max(least, room, 0)) as Amount;
}

/** What no budget of the path has used yet. Budgets above one that is held for it are not asked, and a warning stops nobody. */
export function roomOf(path: Path, id: string, time: Time, dimensions: Dimensions): number {
  let room = Number.POSITIVE_INFINITY;
  for (const budget of path) {
    for (const term of termsOf(budget, dimensions)) {
      if (term.id !== id || term.policy === "soft_warn") continue;
      room = Math.min(room, term.cap - usedOf(budget, term.dimension, time));
    }
    if (budget.funding !== "path" && covers(budget, id)) break;
  }
  return room;
}
