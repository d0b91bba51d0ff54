import type { Amount } from "../core/amount.js";
import { DEFAULT_THRESHOLDS } from "../core/children.js";
import { type Dimension, writeAmount } from "../core/dimension.js";
import { InputError, show } from "../core/errors.js";
import type { BudgetAmounts, BudgetLimits, BudgetPolicies } from "../core/input.js";
import type { ExhaustionPolicy } from "../core/policy.js";
import { type Authority, type AuthorityRefusal, refusalsOf, unknownPolicy } from "./authority.js";
import { type Base, type BaseLimit, childBase, lower, narrowedBase, rootBase } from "./base.js";
import type { Configuration } from "./configuration.js";
import { EMPTY_LAYER, type Layer } from "./layer.js";
import { BY_DEFAULT, type Origin, type Stated } from "./origin.js";
import { type Asked, type Override, readOverride } from "./override.js";
import type { NamedPolicy } from "./policies.js";
import { type SessionInput, type SharedBudget, sharedBudgets } from "./shared.js";
import { layerOf, type RunQuestion, tighteningLayers, usualPolicy } from "./word.js";

/** What somebody wants to start. */
export interface BudgetRequest {
  readonly config: Configuration;
  /** Else the agent's, else the configuration's; a child gets one only when it is named, or its agent has one. */
  readonly policy?: string | undefined;
  readonly agent?: string | undefined;
  /** The name of a session, or limits for one; null for none. A child is in its parent's. */
  readonly session?: string | SessionInput | null | undefined;
  readonly override?: Override | undefined;
  readonly authority: Authority;
  /** What the run above got. With one, the run is a child, whoever starts it. */
  readonly parent?: EffectiveBudget | undefined;
}

/** One dimension of an effective budget. */
export interface EffectiveLimit {
  readonly dimension: Dimension;
  readonly limit: Stated<Amount | null>;
  readonly policy: Stated<ExhaustionPolicy>;
  /** What no run is given more than; null for no ceiling. */
  readonly ceiling: Stated<Amount | null> | null;
  /** What of the limit is set aside for the final answer. */
  readonly reserve: Stated<Amount> | null;
}

/** What `Gate.open` takes for a budget. */
export interface OpeningTerms {
  readonly limits: BudgetLimits;
  readonly policies: BudgetPolicies;
  readonly thresholds?: readonly number[];
}

/** A budget that a run shares, with what to open it with. */
export interface SharedOpening {
  readonly kind: "session" | "tenant";
  readonly name: string;
  readonly origin: Origin;
  readonly opening: OpeningTerms;
}

/** What a run gets, and where each part of it comes from. */
export interface EffectiveBudget {
  readonly policy: NamedPolicy | null;
  readonly agent: string | null;
  readonly session: string | null;
  /** One for every dimension, in the order of the table. */
  readonly dimensions: readonly EffectiveLimit[];
  readonly thresholds: Stated<readonly number[]>;
  readonly approval_expiry_ms: Stated<number>;
  /** For the run. Every dimension is named, null for no limit, so that nothing is filled in later. */
  readonly opening: OpeningTerms;
  /** For the wrap-up reserve, in edge units; null for none. */
  readonly wrap_up: BudgetAmounts | null;
  /** The budgets above a run that has no parent, outermost first. Only what they limit is named. */
  readonly shared: readonly SharedOpening[];
}

export type Effective =
  | { readonly kind: "effective"; readonly budget: EffectiveBudget }
  | { readonly kind: "refused"; readonly refusals: readonly AuthorityRefusal[] };

const DAY_MS = 86_400_000;
const AUTHORITIES: readonly Authority[] = ["operator", "agent", "child"];

/**
 * What a run gets: its policy and agent by default, what whoever starts it asks for within their authority, all of it under
 * the ceilings of the policy and the limits of its session, tenant and parent. It asks nothing of the world.
 *
 * @example
 * ```ts
 * const config = shippedConfig();
 * const asked = effectiveBudget({ config, policy: "moderate", override: { limits: { steps: 20 } }, authority: "agent" });
 * if (asked.kind === "refused") for (const { message } of asked.refusals) console.log(message);
 * else console.log(asked.budget.opening.limits.steps);
 * ```
 *
 * @throws {ConfigError} when the override or the session's limits are no limits at all.
 */
export function effectiveBudget(request: BudgetRequest): Effective {
  const { config, parent } = request;
  checkAuthority(request);
  const question: RunQuestion = { policy: request.policy, agent: request.agent, isChild: parent !== undefined };
  const name = request.policy ?? usualPolicy(config, question);
  const policy = name === null ? null : config.policies.get(name);
  if (policy === undefined) return { kind: "refused", refusals: [unknownPolicy(name ?? "", config)] };
  const { dimensions } = config;
  const said = { layer: layerOf(config, question) ?? EMPTY_LAYER, tightening: tighteningLayers(config, question) };
  const base = baseOf(request, said);
  // An agent cannot widen its budget by choosing another policy; a child is held to what its parent got.
  const given = parent === undefined ? defaultBase(config, request.agent) : base;
  const asked = readOverride(request.override, dimensions);
  const authority = parent === undefined ? request.authority : "child";
  const refusals = refusalsOf({ authority, dimensions, asked, base, given });
  if (refusals.length > 0) return { kind: "refused", refusals };
  const shared = parent === undefined ? sharedBudgets(config, request.session) : [];
  const limits = dimensions.all.flatMap((dimension) => {
    const own = base.get(dimension.id);
    return own === undefined ? [] : [effectiveLimit(dimension, own, asked, said, shared)];
  });
  return { kind: "effective", budget: assembled(request, policy, said, limits, shared) };
}

/** What the files in force say of a run: the one that has the last word, and those that may only tighten it. */
interface SaidLayers {
  readonly layer: Layer;
  readonly tightening: readonly Layer[];
}

function baseOf({ config, parent }: BudgetRequest, { layer, tightening }: SaidLayers): Base {
  const base = parent === undefined ? rootBase(config.dimensions, layer) : childBase(layer, parent);
  return tightening.reduce(narrowedBase, base);
}

/** What runs of an agent get of a configuration when nobody asks for anything. */
export function defaultBase(config: Configuration, agent?: string, policy?: string): Base {
  const question = { agent, policy, isChild: false };
  const base = rootBase(config.dimensions, layerOf(config, question) ?? EMPTY_LAYER);
  return tighteningLayers(config, question).reduce(narrowedBase, base);
}

function checkAuthority({ authority, parent }: BudgetRequest): void {
  if (!AUTHORITIES.includes(authority)) {
    throw new InputError("authority", `is ${show(authority)}; allowed: ${AUTHORITIES.join(", ")}`);
  }
  if (authority === "child" && parent === undefined) {
    throw new InputError("parent", "is missing; a child needs what the run above it got");
  }
}

function effectiveLimit(
  dimension: Dimension,
  base: BaseLimit,
  asked: Asked,
  said: SaidLayers,
  shared: readonly SharedBudget[],
): EffectiveLimit {
  const { id, defaultPolicy } = dimension;
  let limit = asked.limits[id] ?? base.limit;
  for (const { layer: above } of shared) {
    // A shared budget that only warns stops nobody, and so clamps nobody.
    const warns = (above.policies[id]?.value ?? defaultPolicy) === "soft_warn";
    if (!warns) limit = lower(limit, above.limits[id]);
  }
  const policy = asked.policies[id] ?? base.policy;
  return { dimension, limit, policy, ceiling: base.ceiling, reserve: reserved(reserveOf(id, said), limit.value) };
}

/** A working folder's file may set something aside where nothing is, and change nothing that is. */
function reserveOf(id: string, { layer, tightening }: SaidLayers): Stated<Amount> | undefined {
  return [layer, ...tightening].map(({ reserve }) => reserve[id]).find((stated) => stated !== undefined);
}

/** No more can be set aside than there is: where the limit is lower, all of it is for the final answer. */
function reserved(reserve: Stated<Amount> | undefined, limit: Amount | null): Stated<Amount> | null {
  if (reserve === undefined || limit === null) return null;
  const value = Math.min(reserve.value, limit) as Amount;
  return value === 0 ? null : { value, origin: reserve.origin };
}

function assembled(
  request: BudgetRequest,
  policy: NamedPolicy | null,
  { layer, tightening }: SaidLayers,
  dimensions: readonly EffectiveLimit[],
  shared: readonly SharedBudget[],
): EffectiveBudget {
  const { agent = null, parent } = request;
  const thresholds = tightening.reduce(
    moreThresholds,
    layer.thresholds ?? parent?.thresholds ?? { value: DEFAULT_THRESHOLDS, origin: BY_DEFAULT },
  );
  const expiry = tightening.reduce(
    shorterExpiry,
    layer.approval_expiry_ms ?? parent?.approval_expiry_ms ?? { value: DAY_MS, origin: BY_DEFAULT },
  );
  const limits = dimensions.map(({ dimension, limit: { value } }) => [dimension.id, edge(dimension, value)] as const);
  const policies = dimensions.map(({ dimension: { id }, policy: { value } }) => [id, value] as const);
  const set = dimensions.flatMap(({ dimension, reserve }) =>
    reserve === null ? [] : [[dimension.id, writeAmount(dimension, reserve.value)] as const],
  );
  return {
    policy,
    agent,
    session: parent?.session ?? shared.find(({ kind }) => kind === "session")?.name ?? null,
    dimensions,
    thresholds,
    approval_expiry_ms: expiry,
    opening: {
      limits: Object.fromEntries(limits),
      policies: Object.fromEntries(policies),
      thresholds: thresholds.value,
    },
    wrap_up: set.length === 0 ? null : Object.fromEntries(set),
    shared: shared.map((each) => sharedOpening(each, request.config)),
  };
}

const MOST_THRESHOLDS = 16;

/** Warnings can be added by a working folder's file, and not be taken away. */
function moreThresholds(
  known: Stated<readonly number[]>,
  { thresholds }: Pick<Layer, "thresholds">,
): Stated<readonly number[]> {
  const added = (thresholds?.value ?? []).filter((percent) => !known.value.includes(percent));
  if (thresholds === null || added.length === 0) return known;
  const value = [...known.value, ...added].slice(0, MOST_THRESHOLDS).toSorted((a, b) => a - b);
  return { value, origin: thresholds.origin };
}

function shorterExpiry(
  known: Stated<number>,
  { approval_expiry_ms }: Pick<Layer, "approval_expiry_ms">,
): Stated<number> {
  return approval_expiry_ms !== null && approval_expiry_ms.value < known.value ? approval_expiry_ms : known;
}

function sharedOpening({ kind, name, origin, layer }: SharedBudget, { dimensions }: Configuration): SharedOpening {
  const limits = Object.entries(layer.limits).map(([id, { value }]) => [id, edge(dimensions.get(id), value)] as const);
  // Written out, because what a budget does not name it would inherit from the one above, which may be less strict.
  const policies = limits.map(([id]) => [id, layer.policies[id]?.value ?? dimensions.get(id).defaultPolicy] as const);
  const opening = { limits: Object.fromEntries(limits), policies: Object.fromEntries(policies) };
  const thresholds = layer.thresholds?.value;
  return { kind, name, origin, opening: thresholds === undefined ? opening : { ...opening, thresholds } };
}

function edge(dimension: Dimension, value: Amount | null): number | null {
  return value === null ? null : writeAmount(dimension, value);
}
