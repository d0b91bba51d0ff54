import { type Amount, type Amounts, NONE } from "./amount.js";
import { type Budget, covers, type Path, usedOf } from "./budget.js";
import type { Dimensions } from "./dimensions.js";
import type { ReserveOperation } from "./operation.js";
import { termsOf } from "./terms.js";
import type { Time } from "./time.js";

const INPUT = "llm_input_tokens";
const OUTPUT = "llm_output_tokens";
const TOTAL = "llm_tokens";

/** A call is in nobody's way as long as so many like it fit into what is free. */
const PLENTY = 4;

/** What is held for a call, and what it would have been had nothing been learned; null when that makes no difference. */
interface Fitted {
  readonly asked: Amounts;
  readonly full: Amounts | null;
}

/** What a call asks for, once its budgets were looked at: all of it, what was learned about calls like it, or what is left. */
export function fitted(
  path: Path,
  whole: Amounts,
  { least, learned }: Pick<ReserveOperation, "least" | "learned">,
  time: Time,
  dimensions: Dimensions,
): Fitted {
  const modest = learned !== undefined && isScarce(path, whole, learned, time, dimensions);
  const wanted = modest ? cutTo(whole, learned) : whole;
  const asked = least === undefined ? wanted : cutToRoom(path, wanted, least, time, dimensions);
  return { asked, full: modest ? whole : null };
}

/** Everything that was learned in place of what was asked for; what was not asked for is not held either. */
export function cutTo(whole: Amounts, learned: Amounts): Amounts {
  const cut: Record<string, Amount> = { ...whole };
  for (const id of Object.keys(learned)) {
    const [most, usual] = [whole[id], learned[id]];
    if (most !== undefined && usual !== undefined) cut[id] = Math.min(most, usual) as Amount;
  }
  return withLessOutput(cut, whole);
}

/**
 * Whether to hold all of a call would keep others waiting. Who is alone holds all of it: there is nobody in whose way he could
 * be, and whoever comes next finds something held.
 */
function isScarce(path: Path, whole: Amounts, learned: Amounts, time: Time, dimensions: Dimensions): boolean {
  for (const id of Object.keys(learned)) if (isShort(path, id, whole, time, dimensions)) return true;
  return isShort(path, TOTAL, whole, time, dimensions);
}

function isShort(path: Path, id: string, whole: Amounts, time: Time, dimensions: Dimensions): boolean {
  const much = PLENTY * (whole[id] ?? NONE);
  if (much === 0) return false;
  for (const budget of path) {
    const held = budget.reserved[id] ?? NONE;
    if (held > 0 && roomIn(budget, id, time, dimensions) - held < much) return true;
    if (isCovered(budget, id)) return false;
  }
  return false;
}

/**
 * What a call that can do with less asks for: as much as it wants, or as its budgets have left, but no less than it needs. What
 * is held for calls in flight counts as left, because a call would rather wait for it than be cut to a sliver: whoever
 * finds it held is told that the budget is busy.
 */
function cutToRoom(path: Path, asked: Amounts, least: Amounts, time: Time, dimensions: Dimensions): Amounts {
  // Copied only when something is cut, which few calls are.
  let cut: Record<string, Amount> | null = null;
  for (const id of Object.keys(least)) {
    const held = within(asked[id] ?? NONE, least[id] ?? NONE, roomFor(path, id, time, dimensions));
    if (held === asked[id]) continue;
    cut ??= { ...asked };
    cut[id] = held;
  }
  const { [OUTPUT]: output, [INPUT]: beside = NONE } = cut ?? asked;
  if (least[OUTPUT] === undefined || output === undefined) return cut ?? asked;
  const held = within(output, least[OUTPUT], roomFor(path, TOTAL, time, dimensions) - beside);
  if (held !== output) {
    cut ??= { ...asked };
    cut[OUTPUT] = held;
  }
  return cut === null ? asked : withLessOutput(cut, asked);
}

function roomFor(path: Path, id: string, time: Time, dimensions: Dimensions): number {
  return dimensions.has(id) ? roomOf(path, id, time, dimensions) : Number.POSITIVE_INFINITY;
}

/** Output counts in the total too, which is cut with it. */
function withLessOutput(cut: Record<string, Amount>, before: Amounts): Amounts {
  const less = (before[OUTPUT] ?? NONE) - (cut[OUTPUT] ?? NONE);
  if (cut[TOTAL] !== undefined) cut[TOTAL] = Math.max(cut[TOTAL] - less, NONE) as Amount;
  return cut;
}

function within(whole: number, least: number, room: number): Amount {
  return Math.min(whole, Math.max(least, room, 0)) as Amount;
}

/** What no budget of the path has used yet. Budgets above one that is held for it are not asked. */
export function roomOf(path: Path, id: string, time: Time, dimensions: Dimensions): number {
  let room = Number.POSITIVE_INFINITY;
  for (const budget of path) {
    room = Math.min(room, roomIn(budget, id, time, dimensions));
    if (isCovered(budget, id)) break;
  }
  return room;
}

/** A warning stops nobody, and a peak is not used up. */
function roomIn(budget: Budget, id: string, time: Time, dimensions: Dimensions): number {
  for (const { id: each, policy, dimension, cap } of termsOf(budget, dimensions)) {
    if (each !== id || policy === "soft_warn") continue;
    return dimension.kind === "peak" ? cap : cap - usedOf(budget, dimension, time);
  }
  return Number.POSITIVE_INFINITY;
}

function isCovered(budget: Budget, id: string): boolean {
  return budget.funding !== "path" && covers(budget, id);
}
