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
  return { decision, path: hold(after.path, sums(asked, dimensions)), notices };
}

/** Adds holds along the path, and counts one more thing to settle at the leaf. */
export function hold(path: Path, amounts: Amounts): Path {
  let ids = Object.keys(amounts);
  return path.map((budget, index) => {
    const reserved = change(budget.reserved, amounts, 1, ids);
    const same = index > 0 && reserved === budget.reserved;
    const after = checked(
      same ? budget : recounted(budget, { reserved, open: budget.open + (index === 0 ? 1 : 0) }),
      ids,
    );
    if (budget.funding !== "path") ids = ids.filter((id) => !covers(budget, id));
    return after;
  });
}

/** One thing less to settle at the leaf. */
export function closed(path: Path): Path {
  return path.map((budget, index) => (index === 0 ? recounted(budget, { open: budget.open - 1 }) : budget));
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
  const uses = Object.keys(used).map((id) => dimensions.get(id));
  let release = released;
  let below: Budget | null = null;
  return path.map((budget) => {
    const lower = below;
    const inside = lower?.funding === "aside" ? ids.filter((id) => covers(lower, id)) : NO_IDS;
    const after = checked(
      replaced(
        budget,
        use(budget.used, used, uses),
        change(budget.reserved, release, -1, without(ids, inside)),
        change(budget.aside, release, -1, inside),
      ),
      ids,
    );
    if (budget.funding !== "path") release = passedOn(budget, after, release, ids, dimensions);
    below = budget;
    return after;
  });
}

export const NO_IDS: readonly string[] = Object.freeze([]);

/** A budget that stays as it is stays the same object, so that no store has to write it. */
function replaced(budget: Budget, used: Amounts, reserved: Amounts, aside: Amounts): Budget {
  const same = used === budget.used && reserved === budget.reserved && aside === budget.aside;
  return same ? budget : recounted(budget, { used, reserved, aside });
}

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
function use(base: Amounts, deltas: Deltas, uses: readonly Dimension[]): Amounts {
  let used: Record<string, Amount> | null = null;
  for (const { id, kind } of uses) {
    const delta = deltas[id] as number;
    const before = base[id];
    const after = kind === "peak" ? Math.max(before ?? NONE, delta) : (before ?? NONE) + delta;
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

/** The part of what a call asks for that is held: peaks and clocks are not. */
export function sums(amounts: Amounts, dimensions: Dimensions): Amounts {
  const held: Record<string, Amount> = {};
  for (const id in amounts) if (dimensions.get(id).kind === "sum") held[id] = amounts[id] as Amount;
  return held;
}

/** Whether a ledger counts all that is named here. */
export function isCounted(amounts: Amounts, dimensions: Dimensions): boolean {
  for (const id of Object.keys(amounts)) if (!dimensions.has(id)) return false;
  return true;
}

/** Two lists of which the second is nearly always empty. */
export function joined<Item>(first: readonly Item[], second: readonly Item[]): readonly Item[] {
  return second.length === 0 ? first : [...first, ...second];
}
