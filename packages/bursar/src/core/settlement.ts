import { type Amount, type Amounts, MAX_TOTAL, NO_AMOUNTS, NONE } from "./amount.js";
import { type Budget, covers, heldFor, type Path, recounted } from "./budget.js";
import { type Decision, decide } from "./decision.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { InputError } from "./errors.js";
import { type Noticed, notice, record } from "./notice.js";
import type { Time } from "./time.js";

/** Changes by dimension, which a late report may make negative. */
export type Deltas = Readonly<Record<string, number>>;

export interface Admission extends Noticed {
  readonly decision: Decision;
}

/**
 * All reservations along the path, or none. Budgets above a held one are not asked: they hold its limits already.
 * What the decision found out is recorded either way.
 */
export function reserve(
  path: Path,
  asked: Amounts,
  time: Time,
  dimensions: Dimensions,
  inner: boolean = false,
): Admission {
  const before = notice(path, time, dimensions);
  const decision = decide(before.path, asked, time, dimensions, inner);
  const after = record(before.path, decision.findings);
  const notices = joined(before.notices, after.notices);
  if (decision.kind !== "admitted") return { decision, path: after.path, notices };
  return { decision, path: hold(after.path, dimensions.sumsOf(asked)), notices };
}

/** Adds holds along the path, and counts one more thing to settle at the leaf. */
export function hold(path: Path, amounts: Amounts): Path {
  let ids = Object.keys(amounts);
  const after: Budget[] = [];
  for (const budget of path) {
    const isLeaf = after.length === 0;
    const reserved = change(budget.reserved, amounts, 1, ids);
    const same = !isLeaf && reserved === budget.reserved;
    const { used, aside, open } = budget;
    after.push(checked(same ? budget : recounted(budget, used, reserved, aside, isLeaf ? open + 1 : open), ids));
    if (budget.funding !== "path") ids = ids.filter((id) => !covers(budget, id));
  }
  return after;
}

/** One thing less to settle at the leaf. */
export function closed(path: Path): Path {
  const [leaf, ...above] = path;
  if (leaf === undefined) return path;
  return [recounted(leaf, leaf.used, leaf.reserved, leaf.aside, leaf.open - 1), ...above];
}

/**
 * Replaces what was reserved by what was used, on the whole path. Where ancestors hold a budget's limits, its usage is
 * drawn from that hold; what goes beyond the hold overdraws them, visibly.
 */
export function settle(path: Path, released: Deltas, used: Deltas, time: Time, dimensions: Dimensions): Noticed {
  return notice(draw(path, released, used, dimensions), time, dimensions);
}

/** The arithmetic of a settlement alone. */
export function draw(path: Path, released: Deltas, used: Deltas, dimensions: Dimensions): Path {
  const ids = Object.keys(released);
  for (const id in used) if (released[id] === undefined) ids.push(id);
  const peaks = dimensions.peaksOf(used);
  const all: Budget[] = [];
  let release = released;
  let below: Budget | null = null;
  for (const budget of path) {
    const lower: Budget | null = below;
    const inside = lower?.funding === "aside" ? ids.filter((id) => covers(lower, id)) : NO_IDS;
    const spent = use(budget.used, used, peaks);
    const reserved = change(budget.reserved, release, -1, inside === NO_IDS ? ids : without(ids, inside));
    const aside = inside === NO_IDS ? budget.aside : change(budget.aside, release, -1, inside);
    const same = spent === budget.used && reserved === budget.reserved && aside === budget.aside;
    // A budget that stays as it is stays the same object, so that no store has to write it.
    const after = checked(same ? budget : recounted(budget, spent, reserved, aside, budget.open), ids);
    if (budget.funding !== "path") release = passedOn(budget, after, release, ids, dimensions);
    below = budget;
    all.push(after);
  }
  return all;
}

export const NO_IDS: readonly string[] = Object.freeze([]);

/** What the next budget above has to release: where it holds amounts for this one, as much as was taken from them. */
function passedOn(
  before: Budget,
  after: Budget,
  release: Deltas,
  ids: readonly string[],
  dimensions: Dimensions,
): Deltas {
  const next: Record<string, number> = {};
  for (const id of ids) next[id] = drawn(before, after, dimensions.get(id)) ?? release[id] ?? 0;
  return next;
}

/** How much of what is held for a budget its usage has just taken; null where nothing is held for it. */
function drawn(before: Budget, after: Budget, dimension: Dimension): number | null {
  return covers(before, dimension.id) ? heldFor(before, dimension) - heldFor(after, dimension) : null;
}

/** Copied only when something changes; most calls leave peaks as they are, and many amounts too. */
function use(base: Amounts, deltas: Deltas, peaks: readonly string[]): Amounts {
  let used: Record<string, Amount> | null = null;
  for (const id in deltas) {
    const delta = deltas[id] as number;
    const before = base[id];
    const isPeak = peaks.length > 0 && peaks.includes(id);
    const after = isPeak ? Math.max(before ?? NONE, delta) : (before ?? NONE) + delta;
    if (after === before) continue;
    used ??= { ...base };
    used[id] = after as Amount;
  }
  return used ?? base;
}

function change(base: Amounts, deltas: Deltas, sign: 1 | -1, ids: readonly string[]): Amounts {
  let changed: Record<string, Amount> | null = null;
  for (const id of ids) {
    const delta = deltas[id] ?? 0;
    if (delta === 0) continue;
    changed ??= { ...base };
    changed[id] = ((base[id] ?? NONE) + sign * delta) as Amount;
  }
  return changed ?? base;
}

function without(ids: readonly string[], taken: readonly string[]): readonly string[] {
  return taken.length === 0 ? ids : ids.filter((id) => !taken.includes(id));
}

/** Refuses a total that would be rounded, because a rounded total would hide spending. */
function checked(budget: Budget, ids: readonly string[]): Budget {
  for (const id of ids) {
    if ((budget.used[id] ?? NONE) + (budget.reserved[id] ?? NONE) > MAX_TOTAL) {
      const field = `${id} of budget ${budget.id}`;
      throw new InputError(field, `would pass ${MAX_TOTAL}, the largest total that can be counted exactly`);
    }
  }
  return budget;
}

/** What a later charge adds to an earlier one of the same call. A peak is no sum: the later one counts as it is. */
export function difference(after: Amounts, before: Amounts, dimensions: Dimensions): Deltas {
  if (before === NO_AMOUNTS || Object.keys(before).length === 0) return after;
  const deltas: Record<string, number> = {};
  for (const id in after) {
    const charged = after[id] ?? 0;
    deltas[id] = dimensions.get(id).kind === "peak" ? charged : charged - (before[id] ?? 0);
  }
  for (const id in before) {
    if (after[id] === undefined) deltas[id] = dimensions.get(id).kind === "peak" ? 0 : 0 - (before[id] ?? 0);
  }
  return deltas;
}

/** Two lists of which the second is nearly always empty. */
export function joined<Item>(first: readonly Item[], second: readonly Item[]): readonly Item[] {
  return second.length === 0 ? first : [...first, ...second];
}
