import { type Amounts, MAX_AMOUNT } from "../core/amount.js";
import { type Budget, capOf, type Path, usedOf } from "../core/budget.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { type Opening, openBudget } from "../core/children.js";
import { type Dimension, writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { extendBudget } from "../core/extension.js";
import type { BudgetAmounts } from "../core/input.js";
import { roundedUp } from "../core/suggestion.js";
import type { Time } from "../core/time.js";
import type { Estimate, SourcedOpinion } from "../foresight/estimate.js";
import type { Preflight, PreflightDimension, PreflightPolicy } from "../foresight/preflight.js";

/** What a run that was looked at before it begins may use, and what becomes of it. */
export interface Checked {
  readonly preflight: Preflight;
  readonly policy: PreflightPolicy;
  /** In edge units: what would make the 95 % fit, as far as those above leave it. */
  readonly suggested: BudgetAmounts;
  /** In edge units, of the budget that more would be asked for. */
  readonly limits: JsonObject;
  /** The same; nothing of a budget that is still to be opened. */
  readonly consumed: JsonObject;
  /** What is reserved in it: neither used nor free. */
  readonly held: JsonObject;
}

/** A budget as it would be opened below a path. */
export interface Place {
  readonly budget: Budget;
  readonly above: Path;
  readonly time: Time;
}

/** What a new budget begins with. */
export interface Beginning {
  readonly opening: Opening;
  /** What is set aside in it; null for nothing. */
  readonly aside: Opening | null;
  readonly extensions: readonly Amounts[];
}

/** Opens a budget on paper, with all that it begins with; null when those above are exhausted, so that it cannot be opened. */
export function placeOf(
  above: Path,
  { opening, aside, extensions }: Beginning,
  time: Time,
  dimensions: Dimensions,
): Place | null {
  const opened = openBudget(above, opening, time, dimensions);
  if (opened.budget === null) return null;
  let path: Path = [opened.budget, ...opened.path];
  if (aside !== null) path = openBudget(path, aside, time, dimensions).path;
  for (const additional of extensions) {
    const result = extendBudget(path, additional, time, dimensions);
    if (result.kind === "extended") path = result.path;
  }
  const [budget = opened.budget, ...rest] = path;
  return { budget, above: rest, time };
}

/** Compares what is expected with what may be used; without a place there are no limits to compare with. */
export function preflightOf(
  program: string,
  { estimate, notes }: { readonly estimate: Estimate | null; readonly notes: readonly string[] },
  place: Place | null,
  dimensions: Dimensions,
): Preflight {
  const rows: PreflightDimension[] = [];
  let fits = true;
  for (const dimension of dimensions.all) {
    const { id, unit, kind } = dimension;
    const expected = estimate?.dimensions[id];
    if (expected === undefined) continue;
    const limit = place === null ? Number.POSITIVE_INFINITY : mostOf(place, id, kind === "clock");
    const missing = Math.max(0, expected.upper - limit);
    const edge = (value: number) => writeAmount(dimension, value);
    const isLimited = limit !== Number.POSITIVE_INFINITY;
    rows.push({
      dimension: id,
      unit,
      median: edge(expected.median),
      upper: edge(expected.upper),
      source: expected.source,
      limit: isLimited ? edge(limit) : null,
      policy: isLimited ? (place?.budget.policies[id] ?? null) : null,
      missing: edge(missing),
    });
    if (missing > 0 && place !== null && isBinding(place, dimension, expected.upper)) fits = false;
  }
  return { program, estimate, dimensions: rows, fits, notes };
}

/** The most a run can use of a dimension: its limit without what is set aside for its final answer; for a clock, also the time until a deadline on its path. */
function mostOf({ budget, above, time }: Place, id: string, isClock: boolean): number {
  const deadlines = isClock ? [budget, ...above].flatMap(({ deadline }) => (deadline === null ? [] : [deadline])) : [];
  return Math.min(capOf(budget, id), ...deadlines.map((deadline) => Math.max(0, deadline - time.instant)));
}

/** Whether more than a warning would come of it. A limit that only warns may stand below one that does more. */
function isBinding(place: Place, dimension: Dimension, upper: number): boolean {
  return place.budget.policies[dimension.id] !== "soft_warn" || leftAbove(place, dimension) < upper;
}

/**
 * Whether nothing but a handful of runs says that it does not fit, and most of them would have fitted themselves: their bound is
 * wide because they are few, and whoever is refused for that never makes them more.
 */
export function restsOnFew({ estimate, fits }: Preflight, place: Place, dimensions: Dimensions): boolean {
  if (fits || estimate === null) return false;
  return dimensions.all.every((dimension) => {
    const { id, kind } = dimension;
    const expected = estimate.dimensions[id];
    const isSoft = place.budget.policies[id] === "soft_warn";
    const limit = isSoft ? leftAbove(place, dimension) : mostOf(place, id, kind === "clock");
    if (expected === undefined || expected.upper <= limit) return true;
    // A past that decides is not few runs; until then everybody's word counts.
    return estimate.opinions.every(({ source, dimensions: said, least }) => {
      if (source !== "history") return (said[id]?.upper ?? 0) <= limit;
      return least !== undefined && (least[id] ?? 0) <= limit;
    });
  });
}

/** The least that a budget above has left, of those that do more than warn. */
function leftAbove({ above, time }: Place, dimension: Dimension): number {
  const strict = above.filter(({ policies }) => policies[dimension.id] !== "soft_warn");
  const left = strict.map((budget) => {
    const used = dimension.kind === "peak" ? 0 : usedOf(budget, dimension, time);
    return capOf(budget, dimension.id) - used;
  });
  return Math.min(Number.POSITIVE_INFINITY, ...left);
}

/**
 * What would have to be added to the budget so that the 95 % fits, cut to what is of use below those above. A call is held before it
 * is charged, so that there has to be room for what it does not take, too.
 */
export function suggestedFor({ estimate }: Preflight, place: Place, dimensions: Dimensions): BudgetAmounts {
  const suggested: Record<string, number> = {};
  const opinions = estimate?.opinions ?? [];
  for (const [id, { upper }] of Object.entries(estimate?.dimensions ?? {})) {
    const dimension = dimensions.get(id);
    const limit = capOf(place.budget, id);
    if (!(upper > limit)) continue;
    const spare = dimension.kind === "peak" ? 0 : Math.max(0, ...opinions.map((each) => each.spare?.[id] ?? 0));
    const needed = limit + roundedUp(upper + spare - limit);
    const wanted = Math.min(needed, leftAbove(place, dimension), MAX_AMOUNT) - limit;
    if (!(wanted > 0)) continue;
    const result = extendBudget([place.budget, ...place.above], { [id]: wanted } as Amounts, place.time, dimensions);
    const room = result.kind === "extended" ? wanted : result.room - (dimension.kind === "peak" ? limit : 0);
    if (room > 0) suggested[id] = writeAmount(dimension, room);
  }
  return suggested;
}

/** What the chain and people are told of it, in edge units. */
export function describePreflight({ estimate, dimensions, fits, notes }: Preflight, table: Dimensions): JsonObject {
  const rows = dimensions.map(({ dimension, median, upper, source, limit, missing }) => [
    dimension,
    { median, upper, source, limit, missing },
  ]);
  const sources = (estimate?.opinions ?? []).map((opinion) => describeOpinion(opinion, table));
  return { fits, dimensions: Object.fromEntries(rows), sources, notes: [...notes] };
}

function describeOpinion({ source, samples, about, dimensions }: SourcedOpinion, table: Dimensions): JsonObject {
  const figures = Object.entries(dimensions).map(([id, { median, upper }]) => {
    const edge = (value: number) => writeAmount(table.get(id), value);
    return [id, { median: edge(median), upper: edge(upper) }];
  });
  return { source, samples, about, dimensions: Object.fromEntries(figures) };
}
