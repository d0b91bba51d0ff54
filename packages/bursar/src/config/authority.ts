import type { Amount } from "../core/amount.js";
import type { Dimension } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { show } from "../core/errors.js";
import { type ExhaustionPolicy, strictest } from "../core/policy.js";
import type { Base } from "./base.js";
import type { Configuration } from "./configuration.js";
import { isAbove, printLimit } from "./governance.js";
import { type Origin, printCeiling, printOrigin, type Stated } from "./origin.js";
import type { Asked } from "./override.js";
import { offer } from "./reading.js";

/** Who starts a run: an operator may go in either direction, an agent and every child may only tighten. */
export type Authority = "operator" | "agent" | "child";

/**
 * Why a run does not get what was asked for.
 * - `widens`: an agent or a child asks for more than it gets by default.
 * - `loosens`: it asks for a policy that is less strict.
 * - `above_ceiling`: more than the policy allows anybody.
 * - `unknown_policy`: there is no policy of that name.
 */
export interface AuthorityRefusal {
  readonly code: "widens" | "loosens" | "above_ceiling" | "unknown_policy";
  readonly dimension: string | null;
  /** What was asked for, as one would write it. */
  readonly asked: string;
  /** What could be asked for at most. */
  readonly allowed: string | null;
  /** Who allows no more than that. */
  readonly origin: Origin | null;
  /** All of it for people, with what to do. */
  readonly message: string;
}

interface Claim {
  readonly authority: Authority;
  readonly dimensions: Dimensions;
  readonly asked: Asked;
  /** What the run gets of the policy that was named. */
  readonly base: Base;
  /** What it would get if none were named: an agent cannot widen its budget by choosing another policy. */
  readonly given: Base;
}

/** Everything that is asked for without the authority to. */
export function refusalsOf(claim: Claim): readonly AuthorityRefusal[] {
  const judge = claim.authority === "operator" ? aboveCeiling : widening;
  return claim.dimensions.all.flatMap((dimension) => judge(dimension, claim));
}

function aboveCeiling(dimension: Dimension, { asked, base }: Claim): readonly AuthorityRefusal[] {
  const limit = asked.limits[dimension.id];
  const ceiling = base.get(dimension.id)?.ceiling ?? null;
  if (limit === undefined || ceiling === null || !isAbove(limit.value, ceiling.value)) return [];
  const figures = { asked: printLimit(dimension, limit.value), allowed: printLimit(dimension, ceiling.value) };
  const by = `(${printCeiling(ceiling.origin)})`;
  const message = `${dimension.id} ${figures.asked} is above the ceiling ${figures.allowed} ${by}; ask for less, or name another policy`;
  return [{ code: "above_ceiling", dimension: dimension.id, ...figures, origin: ceiling.origin, message }];
}

function widening(dimension: Dimension, { authority, asked, base, given }: Claim): readonly AuthorityRefusal[] {
  const { id } = dimension;
  const named = base.get(id);
  const usual = given.get(id);
  if (named === undefined || usual === undefined) return [];
  const limit = asked.limits[id];
  const policy = asked.policies[id];
  return [
    wider(authority, dimension, named.limit, usual.limit),
    looser(authority, dimension, named.policy, usual.policy),
    limit === undefined ? null : wider(authority, dimension, limit, named.limit),
    policy === undefined ? null : looser(authority, dimension, policy, named.policy),
  ].filter((refusal) => refusal !== null);
}

function wider(
  authority: Authority,
  dimension: Dimension,
  asked: Stated<Amount | null>,
  most: Stated<Amount | null>,
): AuthorityRefusal | null {
  if (!isAbove(asked.value, most.value)) return null;
  const figures = { asked: printLimit(dimension, asked.value), allowed: printLimit(dimension, most.value) };
  const what = `${dimension.id} ${figures.asked} is above ${figures.allowed} (${printOrigin(most.origin)})`;
  const message = `${who(authority)} may only tighten: ${what}`;
  return { code: "widens", dimension: dimension.id, ...figures, origin: most.origin, message };
}

function looser(
  authority: Authority,
  { id }: Dimension,
  asked: Stated<ExhaustionPolicy>,
  least: Stated<ExhaustionPolicy>,
): AuthorityRefusal | null {
  if (strictest(asked.value, least.value) === asked.value) return null;
  const what = `${id} ${asked.value} is less strict than ${least.value} (${printOrigin(least.origin)})`;
  const message = `${who(authority)} may only tighten: ${what}`;
  return { code: "loosens", dimension: id, asked: asked.value, allowed: least.value, origin: least.origin, message };
}

function who(authority: Authority): string {
  return authority === "child" ? "a child" : "an agent";
}

export function unknownPolicy(name: string, { policies }: Configuration): AuthorityRefusal {
  const known = [...policies.keys()];
  const message = `there is no policy ${show(name)}; ${offer(name, known)}`;
  return { code: "unknown_policy", dimension: null, asked: name, allowed: null, origin: null, message };
}
