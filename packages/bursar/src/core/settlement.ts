import { type Amount, type Amounts, MAX_TOTAL, NONE } from "./amount.js";
import { type Budget, covers, heldFor, type Path } from "./budget.js";
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
export function reserve(path: Path, asked: Amounts, time: Time, dimensions: Dimensions): Admission {
  const before = notice(path, time, dimensions);
  const decision = decide(before.path, asked, time, dimensions);
  const after = record(before.path, decision.findings);
  const notices = [...before.notices, ...after.notices];
  if (decision.kind !== "admitted") return { decision, path: after.path, notices };
  return { decision, path: hold(after.path, sums(asked, dimensions)), notices };
}

/** Adds holds along the path, and counts one more thing to settle at the leaf. */
export function hold(path: Path, amounts: Amounts): Path {
  return path.map((budget, index) => {
    const below = path.slice(0, index);
    const ids = Object.keys(amounts).filter((id) => !below.some((lower) => covers(lower, id)));
    const reserved = change(budget.reserved, amounts, ids);
    return checked({ ...budget, reserved, open: budget.open + (index === 0 ? 1 : 0) }, ids);
  });
}

/** One thing less to settle at the leaf. */
export function closed(path: Path): Path {
  return path.map((budget, index) => (index === 0 ? { ...budget, open: budget.open - 1 } : budget));
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
  const ids = [...new Set([...Object.keys(released), ...Object.keys(used)])];
  let release = released;
  let below: Budget | null = null;
  return path.map((budget) => {
    const lower = below;
    const inside = ids.filter((id) => lower?.funding === "aside" && covers(lower, id));
    const after = checked(
      {
        ...budget,
        used: use(budget, used, dimensions),
        reserved: change(budget.reserved, negated(release), without(ids, inside)),
        aside: change(budget.aside, negated(release), inside),
      },
      ids,
    );
    release = Object.fromEntries(ids.map((id) => [id, drawn(budget, after, dimensions.get(id)) ?? release[id] ?? 0]));
    below = budget;
    return after;
  });
}

/** How much of what is held for a budget its usage has just taken; null where nothing is held for it. */
function drawn(before: Budget, after: Budget, dimension: Dimension): number | null {
  return covers(before, dimension.id) ? heldFor(before, dimension) - heldFor(after, dimension) : null;
}

function use(budget: Budget, deltas: Deltas, dimensions: Dimensions): Amounts {
  const used: Record<string, Amount> = { ...budget.used };
  for (const [id, delta] of Object.entries(deltas)) {
    const before = used[id] ?? NONE;
    used[id] = (dimensions.get(id).kind === "peak" ? Math.max(before, delta) : before + delta) as Amount;
  }
  return used;
}

function change(base: Amounts, deltas: Deltas, ids: readonly string[]): Amounts {
  const changed: Record<string, Amount> = { ...base };
  for (const id of ids) {
    const delta = deltas[id] ?? 0;
    if (delta !== 0) changed[id] = ((changed[id] ?? NONE) + delta) as Amount;
  }
  return changed;
}

function negated(deltas: Deltas): Deltas {
  return Object.fromEntries(Object.entries(deltas).map(([id, delta]) => [id, -delta]));
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

/** The part of what a call asks for that is held: peaks and clocks are not. */
export function sums(amounts: Amounts, dimensions: Dimensions): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([id]) => dimensions.get(id).kind === "sum"));
}
