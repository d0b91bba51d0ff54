import type { Amounts } from "./amount.js";
import { type Budget, capOf, limitOf } from "./budget.js";
import { percentOf } from "./decimal.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import type { ExhaustionPolicy } from "./policy.js";

/** What a budget's limit on one dimension comes to: everything that no plain call changes. */
export interface Term {
  readonly id: string;
  /** Its key as a member of canonical JSON. */
  readonly start: string;
  /** How many of the smallest units one unit for people has. */
  readonly scale: number;
  readonly dimension: Dimension;
  readonly policy: ExhaustionPolicy;
  /** With all extensions. */
  readonly limit: number;
  /** What ordinary calls may use of it. */
  readonly cap: number;
  /** Whether its exhaustion is on record. */
  readonly exhausted: boolean;
  /** From this usage on there is something to tell. */
  readonly mark: number;
}

/** The terms of a budget, and what they were worked out from. */
interface Known extends Pick<Budget, "extended" | "aside" | "policies" | "thresholds" | "warned" | "exhausted"> {
  readonly dimensions: Dimensions;
  readonly terms: readonly Term[];
  /** The same in the order of their names, once they were asked for so. */
  byName: readonly Term[] | null;
}

// Budgets are values, so what has not changed is the same object as before. Limits never change at all, and by them the
// terms of a budget are found again from call to call, however many versions of it there have been.
const known = new WeakMap<Amounts, Known>();

/** The terms of every dimension that a budget limits, in the order of its limits. */
export function termsOf(budget: Budget, dimensions: Dimensions): readonly Term[] {
  const before = known.get(budget.limits);
  return before !== undefined && holds(before, budget, dimensions) ? before.terms : work(budget, dimensions).terms;
}

/** The same in the order of their names. */
export function termsByName(budget: Budget, dimensions: Dimensions): readonly Term[] {
  const before = known.get(budget.limits);
  const now = before !== undefined && holds(before, budget, dimensions) ? before : work(budget, dimensions);
  now.byName ??= now.terms.toSorted((a, b) => (a.id < b.id ? -1 : 1));
  return now.byName;
}

function work(budget: Budget, dimensions: Dimensions): Known {
  const { extended, aside, policies, thresholds, warned, exhausted } = budget;
  const terms = Object.keys(budget.limits).map((id) => termOf(budget, dimensions.get(id)));
  const made: Known = { extended, aside, policies, thresholds, warned, exhausted, dimensions, terms, byName: null };
  known.set(budget.limits, made);
  return made;
}

function holds(before: Known, budget: Budget, dimensions: Dimensions): boolean {
  return (
    before.warned === budget.warned &&
    before.exhausted === budget.exhausted &&
    before.extended === budget.extended &&
    before.aside === budget.aside &&
    before.policies === budget.policies &&
    before.thresholds === budget.thresholds &&
    before.dimensions === dimensions
  );
}

function termOf(budget: Budget, dimension: Dimension): Term {
  const { id } = dimension;
  const exhausted = budget.exhausted.includes(id);
  const limit = limitOf(budget, id);
  const cap = capOf(budget, id);
  const percent = budget.thresholds[budget.warned[id] ?? 0];
  const threshold = percent === undefined || limit === 0 ? Number.POSITIVE_INFINITY : percentOf(limit, percent);
  const mark = exhausted ? threshold : Math.min(threshold, overdraft(dimension, cap));
  const start = `"${id}":`;
  return {
    id,
    start,
    scale: 10 ** dimension.decimals,
    dimension,
    policy: budget.policies[id] ?? dimension.defaultPolicy,
    limit,
    cap,
    exhausted,
    mark,
  };
}

/** Landing on the limit is legal for what is counted; a clock that has reached it has run out. */
export function overdraft({ kind }: Dimension, cap: number): number {
  return kind === "clock" ? cap : cap + 1;
}
