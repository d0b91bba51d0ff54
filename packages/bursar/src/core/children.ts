import type { Amount, Amounts } from "./amount.js";
import { type Budget, type BudgetId, capOf, covers, freeOf, heldFor, type Path, type Scope, usedOf } from "./budget.js";
import { fractionOf } from "./decimal.js";
import { type Decision, decide } from "./decision.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { InputError, LedgerError, show } from "./errors.js";
import { type Notice, notice, record } from "./notice.js";
import { type Policies, strictest } from "./policy.js";
import { closed, draw, hold } from "./settlement.js";
import { paused, started, type Time } from "./time.js";

/**
 * How a new budget gets its limits.
 * - `limits`: as given, a cap of its own; `clamp` cuts them to what its ancestors have left (a run in a session).
 * - `fraction`: that share of what is free on the whole path, held for it until it ends.
 * - `wrap_up`: set aside in the parent from the start, for the final answer alone.
 *
 * A child that shares its parent's budget has no budget of its own: its calls name the parent's.
 */
export type Grant =
  | { readonly kind: "limits"; readonly limits: Amounts; readonly clamp?: boolean }
  | { readonly kind: "fraction"; readonly of: number; readonly most?: Amounts }
  | { readonly kind: "wrap_up"; readonly amounts: Amounts };

export interface Opening {
  readonly id: BudgetId;
  readonly scope: Scope;
  readonly grant: Grant;
  /** For dimensions not named here: the parent's policy, else the table's. */
  readonly policies?: Policies;
  readonly thresholds?: readonly number[];
  readonly deadline?: number | null;
}

export interface Opened {
  readonly decision: Decision;
  /** Null when the ancestors are exhausted: a child would be a way round. */
  readonly budget: Budget | null;
  readonly path: Path;
  readonly notices: readonly Notice[];
}

export const DEFAULT_THRESHOLDS: readonly number[] = Object.freeze([50, 80]);

/** Opens a budget under `path` (its parent first; empty for a root). */
export function openBudget(path: Path, opening: Opening, time: Time, dimensions: Dimensions): Opened {
  const seen = notice(path, time, dimensions);
  const decision = decide(seen.path, {}, time, dimensions);
  const told = record(seen.path, decision.findings);
  const notices = [...seen.notices, ...told.notices];
  if (decision.kind !== "admitted" && decision.kind !== "busy") {
    return { decision, budget: null, path: told.path, notices };
  }
  const limits = granted(told.path, opening.grant, time, dimensions);
  const budget = blank(told.path, opening, limits, time, dimensions);
  const held = budget.funding === "path" ? {} : heldAmounts(budget, dimensions);
  const above =
    opening.grant.kind === "wrap_up" ? setAside(told.path, opening.grant.amounts, held) : hold(told.path, held);
  return { decision, budget, path: above, notices };
}

/** Ends a budget: what its ancestors still hold for it is free again at once, and its clock stops. */
export function endBudget(path: Path, time: Time, dimensions: Dimensions): Path {
  const [leaf, ...above] = path;
  if (leaf === undefined || leaf.ended) throw new LedgerError(`budget ${leaf?.id} has ended already`);
  if (leaf.open > 0) {
    throw new LedgerError(`budget ${leaf.id} has ${leaf.open} reservations or children open; settle or end them first`);
  }
  const ended: Budget = { ...leaf, ended: true, watch: paused(leaf.watch, time) };
  const [parent, ...higher] = above;
  if (parent === undefined) return [ended];
  const rest = heldAmounts(leaf, dimensions);
  if (leaf.funding !== "aside") return [ended, ...closed(draw(above, rest, {}, dimensions))];
  const kept: Budget = { ...parent, aside: {} };
  return [ended, ...closed([kept, ...draw(higher, uncovered(parent, rest), {}, dimensions)])];
}

function granted(path: Path, grant: Grant, time: Time, dimensions: Dimensions): Amounts {
  switch (grant.kind) {
    case "limits":
      return grant.clamp === true ? clamped(path, grant.limits, time, dimensions, null) : { ...grant.limits };
    case "fraction":
      if (path.length === 0) throw new InputError("fraction", "needs a parent to take a part of");
      return clamped(path, grant.most ?? {}, time, dimensions, fraction(grant.of));
    case "wrap_up":
      return fitting(path, grant.amounts, time, dimensions);
  }
}

/**
 * Own limits cut to what the path has left, or to a share of what it has free. A peak is not used up, so it is not divided
 * either. Holds in flight cut nothing but a share, because they pass; nor does an ancestor that only warns.
 */
function clamped(
  path: Path,
  own: Amounts,
  time: Time,
  dimensions: Dimensions,
  share: ((free: number) => number) | null,
): Amounts {
  const limits: Record<string, Amount> = {};
  for (const dimension of dimensions.all) {
    const { id, kind } = dimension;
    const binding = share === null ? path.filter(({ policies }) => policies[id] !== "soft_warn") : path;
    const free = share === null ? leftOn(binding, dimension, time) : freeOn(binding, dimension, time);
    const left = share === null || kind === "peak" || free === Number.POSITIVE_INFINITY ? free : share(free);
    const limit = Math.min(own[id] ?? Number.POSITIVE_INFINITY, left);
    if (limit !== Number.POSITIVE_INFINITY) limits[id] = limit as Amount;
  }
  return limits;
}

/** What the path has not used. */
function leftOn(path: Path, dimension: Dimension, time: Time): number {
  const left = path.map((budget) => {
    const used = dimension.kind === "peak" ? 0 : usedOf(budget, dimension, time);
    return capOf(budget, dimension.id) - used;
  });
  return Math.max(0, Math.min(Number.POSITIVE_INFINITY, ...left));
}

/** What a new hold could take: the least that is free on the path, up to where a hold covers the rest of it. */
export function freeOn(path: Path, dimension: Dimension, time: Time): number {
  let free = Number.POSITIVE_INFINITY;
  for (const budget of path) {
    free = Math.min(free, freeOf(budget, dimension, time));
    if (dimension.kind !== "clock" && covers(budget, dimension.id)) break;
  }
  return Math.max(0, free);
}

function fraction(of: number): (free: number) => number {
  if (typeof of !== "number" || !(of > 0 && of <= 1)) {
    throw new InputError("fraction", `is ${show(of)}; allowed: a number above 0 and at most 1`);
  }
  return (free) => fractionOf(free, of);
}

function fitting(path: Path, amounts: Amounts, time: Time, dimensions: Dimensions): Amounts {
  const limits: Record<string, Amount> = {};
  if (Object.keys(amounts).length === 0) throw new InputError("wrap_up", "names no dimension; give at least one");
  for (const [id, amount] of Object.entries(amounts)) {
    const dimension = dimensions.get(id);
    const field = `wrap_up.${id}`;
    if (path[0]?.limits[id] === undefined) throw new InputError(field, "has no limit to set an amount aside from");
    if (dimension.kind === "peak") throw new InputError(field, "is a peak, which cannot be set aside");
    if (amount > freeOn(path, dimension, time)) throw new InputError(field, "is more than the budget has left");
    // The time set aside is the parent's own: the final answer runs on the parent's clock.
    if (dimension.kind === "sum") limits[id] = amount;
  }
  return limits;
}

/** There is at most one wrap-up reserve, so that all that is set aside is free again when it ends. */
function setAside(path: Path, amounts: Amounts, held: Amounts): Path {
  const [parent, ...higher] = path;
  if (parent === undefined) throw new InputError("wrap_up", "needs a budget to be set aside in");
  if (Object.keys(parent.aside).length > 0) throw new InputError("wrap_up", `is there already in budget ${parent.id}`);
  const above = higher.length === 0 ? [] : closed(hold(higher, uncovered(parent, held)));
  return [{ ...parent, aside: { ...amounts }, open: parent.open + 1 }, ...above];
}

/** The amounts that a budget's own ancestors do not hold for it anyway. */
function uncovered(budget: Budget, amounts: Amounts): Amounts {
  return Object.fromEntries(Object.entries(amounts).filter(([id]) => !covers(budget, id)));
}

function blank(path: Path, opening: Opening, limits: Amounts, time: Time, dimensions: Dimensions): Budget {
  const { id, scope, grant } = opening;
  const parent = path[0] ?? null;
  return {
    id,
    parent: parent?.id ?? null,
    scope,
    funding: grant.kind === "limits" ? "path" : grant.kind === "fraction" ? "held" : "aside",
    limits,
    extended: {},
    aside: {},
    policies: policiesFor(path, opening, limits, dimensions),
    thresholds: opening.thresholds?.slice() ?? parent?.thresholds ?? DEFAULT_THRESHOLDS,
    warned: {},
    exhausted: [],
    used: {},
    reserved: {},
    watch: started(time),
    deadline: opening.deadline ?? null,
    open: 0,
    ended: false,
  };
}

/** A held budget is not checked against its ancestors, so it must be at least as strict as each of them. */
function policiesFor(path: Path, opening: Opening, limits: Amounts, dimensions: Dimensions): Policies {
  const policies = Object.keys(limits).map((id) => {
    const above = path.filter((budget) => budget.limits[id] !== undefined).map((budget) => budget.policies[id]);
    const inherited = path[0]?.policies[id] ?? dimensions.get(id).defaultPolicy;
    let policy = opening.policies?.[id] ?? inherited;
    if (opening.grant.kind !== "limits") for (const other of above) policy = strictest(policy, other ?? policy);
    return [id, policy] as const;
  });
  return Object.fromEntries(policies);
}

function heldAmounts(budget: Budget, dimensions: Dimensions): Amounts {
  const held = Object.keys(budget.limits).map((id) => [id, heldFor(budget, dimensions.get(id)) as Amount] as const);
  return Object.fromEntries(held.filter(([, value]) => value > 0));
}
