import { type Budget, capOf, heldOf, limitOf, usedOf } from "../core/budget.js";
import { type Dimension, writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Time } from "../core/time.js";
import { exhaustionAt, type Rates } from "./projection.js";
import type { DimensionView } from "./shapes.js";

/** What is known of the course that a run takes. */
export interface Prospect {
  readonly time: Time;
  /** Null for a run that stands still: then nothing is used up but what is. */
  readonly rates: Rates | null;
  /** When a dimension of a budget was used up; null when nobody knows. */
  exhausted(budget: string, dimension: string): number | null;
}

/** Where every dimension stands that a budget limits, in the order of the table. */
export function dimensionViews(budget: Budget, dimensions: Dimensions, prospect: Prospect): readonly DimensionView[] {
  return dimensions.all
    .filter(({ id }) => budget.limits[id] !== undefined)
    .map((dimension) => dimensionView(budget, dimension, prospect));
}

function dimensionView(budget: Budget, dimension: Dimension, prospect: Prospect): DimensionView {
  const { id, unit } = dimension;
  const edge = (amount: number) => writeAmount(dimension, amount);
  return {
    dimension: id,
    unit,
    used: edge(usedOf(budget, dimension, prospect.time)),
    held: edge(heldOf(budget, id)),
    limit: edge(limitOf(budget, id)),
    policy: budget.policies[id] ?? dimension.defaultPolicy,
    thresholds: budget.thresholds,
    exhausted_at: exhaustedAt(budget, dimension, prospect),
  };
}

function exhaustedAt(budget: Budget, dimension: Dimension, { time, rates, exhausted }: Prospect): number | null {
  const { id, kind } = dimension;
  const cap = capOf(budget, id);
  const left = cap - usedOf(budget, dimension, time);
  if (left <= 0) return cap <= 0 && budget.used[id] === undefined ? null : exhausted(budget.id, id);
  if (kind === "clock") return budget.ended || budget.watch.since === null ? null : dateIn(time.instant + left);
  if (kind === "peak" || rates === null) return null;
  return exhaustionAt(writeAmount(dimension, left), id, rates, time.instant);
}

/** The last instant that is a date; a limit may allow more than that, which is not in sight. */
const LAST_INSTANT = 8_640_000_000_000_000;

function dateIn(instant: number): number | null {
  const whole = Math.ceil(instant);
  return whole > LAST_INSTANT ? null : whole;
}

/** The one that is used up first; of those whose end is not in sight, the one that is nearest to it. */
export function tightestOf(views: readonly DimensionView[]): DimensionView | null {
  return views.reduce<DimensionView | null>(
    (first, each) => (first === null || isTighter(each, first) ? each : first),
    null,
  );
}

function isTighter(a: DimensionView, b: DimensionView): boolean {
  const [at, before] = [a.exhausted_at ?? Number.POSITIVE_INFINITY, b.exhausted_at ?? Number.POSITIVE_INFINITY];
  return at === before ? shareOf(a) > shareOf(b) : at < before;
}

/** A limit of 0 is used up only by who uses something in spite of it. */
function shareOf({ used, held, limit }: DimensionView): number {
  return limit === 0 ? used + held : (used + held) / limit;
}
