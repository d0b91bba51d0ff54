import { type Amounts, NONE } from "./amount.js";
import type { Dimension } from "./dimension.js";
import type { Policies } from "./policy.js";
import { elapsed, type Stopwatch, type Time } from "./time.js";

export type BudgetId = string;

/** Whose budget it is: on a run's own, a call that is too large sets off the policy; on a shared one only that call is refused. */
export type Scope = "run" | "shared";

/**
 * Where a budget's amounts come from.
 * - `path`: its limits are a cap; every call reserves in its ancestors too.
 * - `held`: its ancestors hold its limits for it from the start (a fraction), so its calls need not ask them.
 * - `aside`: held like that, and set aside inside its parent for good: the wrap-up reserve.
 */
export type Funding = "path" | "held" | "aside";

/** One node of the budget tree, as a value. Operations give back a new one. */
export interface Budget {
  readonly id: BudgetId;
  readonly parent: BudgetId | null;
  readonly scope: Scope;
  readonly funding: Funding;
  /** Fixed when the budget is opened; an absent dimension has no limit at this node. */
  readonly limits: Amounts;
  /** The sum of the recorded extensions. */
  readonly extended: Amounts;
  /** What a wrap-up reserve below still keeps from ordinary calls. */
  readonly aside: Amounts;
  /** For every limited dimension. */
  readonly policies: Policies;
  /** Percentages, ascending. */
  readonly thresholds: readonly number[];
  /** How many of the thresholds have fired, by dimension. */
  readonly warned: Readonly<Record<string, number>>;
  /** Dimensions whose exhaustion has been recorded. Sticky: only an extension takes one out. */
  readonly exhausted: readonly string[];
  readonly used: Amounts;
  readonly reserved: Amounts;
  readonly watch: Stopwatch;
  /** The instant after which nothing may start, pause or no pause. */
  readonly deadline: number | null;
  /** Reservations and children that have to be settled before the budget can end. */
  readonly open: number;
  readonly ended: boolean;
}

/** A budget and its ancestors, leaf first. */
export type Path = readonly Budget[];

/** The name under which an instant is reported beside the dimensions. */
export const DEADLINE = "deadline";

/** The limit with all extensions; infinite where there is none. */
export function limitOf(budget: Budget, id: string): number {
  const limit = budget.limits[id];
  return limit === undefined ? Number.POSITIVE_INFINITY : limit + (budget.extended[id] ?? NONE);
}

/** What ordinary calls may use: the limit without the wrap-up reserve. */
export function capOf(budget: Budget, id: string): number {
  return limitOf(budget, id) - (budget.aside[id] ?? NONE);
}

export function usedOf(budget: Budget, dimension: Dimension, time: Time): number {
  return dimension.kind === "clock" ? elapsed(budget.watch, time) : (budget.used[dimension.id] ?? NONE);
}

/** What is held for calls under way and for children, and what is set aside for the final answer. */
export function heldOf(budget: Pick<Budget, "reserved" | "aside">, id: string): number {
  return (budget.reserved[id] ?? NONE) + (budget.aside[id] ?? NONE);
}

/** What is neither used nor held; negative when overdrawn, infinite without a limit. A peak is not used up. */
export function freeOf(budget: Budget, dimension: Dimension, time: Time): number {
  return freeUnder(capOf(budget, dimension.id), budget, dimension, time);
}

/** The same, for who knows the cap already. */
export function freeUnder(cap: number, budget: Budget, dimension: Dimension, time: Time): number {
  if (dimension.kind === "peak") return cap;
  return cap - usedOf(budget, dimension, time) - (budget.reserved[dimension.id] ?? NONE);
}

/** Whether the ancestors of a budget hold a dimension for it, so that they need not be asked again. */
export function covers(budget: Budget, id: string): boolean {
  return budget.funding === "held" || (budget.funding === "aside" && budget.limits[id] !== undefined);
}

/** What the ancestors of a budget still hold for it. Only sums are held. */
export function heldFor(budget: Budget, dimension: Dimension): number {
  const { id, kind } = dimension;
  if (budget.ended || kind !== "sum" || budget.limits[id] === undefined || !covers(budget, id)) return 0;
  return Math.max(0, limitOf(budget, id) - (budget.used[id] ?? NONE));
}

/**
 * A budget with other amounts. Every budget of a path goes through here on every call, so the fields are written out: a
 * spread takes twenty times as long.
 */
export function recounted(budget: Budget, used: Amounts, reserved: Amounts, aside: Amounts, open: number): Budget {
  return {
    id: budget.id,
    parent: budget.parent,
    scope: budget.scope,
    funding: budget.funding,
    limits: budget.limits,
    extended: budget.extended,
    aside,
    policies: budget.policies,
    thresholds: budget.thresholds,
    warned: budget.warned,
    exhausted: budget.exhausted,
    used,
    reserved,
    watch: budget.watch,
    deadline: budget.deadline,
    open,
    ended: budget.ended,
    // So that no field that is added later gets lost here.
  } satisfies Required<Budget>;
}
