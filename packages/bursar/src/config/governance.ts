import type { Amount } from "../core/amount.js";
import { printDecimal, printUsd } from "../core/decimal.js";
import type { Dimension } from "../core/dimension.js";
import { show } from "../core/errors.js";
import type { Field, Member } from "./field.js";
import { type Layer, laidOver, readLayer } from "./layer.js";
import { BY_DEFAULT, type Origin, printCeiling, printOrigin, type Stated } from "./origin.js";
import { DEFAULT_POLICY, type NamedPolicy, readPolicies, shippedPolicies } from "./policies.js";
import { aboutKey, membersOf, offer, type Reading, textIn } from "./reading.js";

/** What a file says of one agent: written by the operator, so it may go in either direction, up to the ceilings. */
export interface NamedAgent {
  readonly name: string;
  readonly description: string | null;
  readonly origin: Origin;
  /** The policy its runs get unless another is named. */
  readonly policy: Stated<string> | null;
  readonly layer: Layer;
}

/** What a file says of a session or of the tenant: limits that its runs share. Absent is no limit. */
export interface SharedLimits {
  readonly name: string;
  readonly description: string | null;
  readonly origin: Origin;
  readonly layer: Layer;
}

export interface Governance {
  readonly defaultPolicy: Stated<string>;
  readonly policies: ReadonlyMap<string, NamedPolicy>;
  readonly agents: ReadonlyMap<string, NamedAgent>;
  /** The one called `default` is meant for every session that has none of its own. */
  readonly sessions: ReadonlyMap<string, SharedLimits>;
  readonly tenant: SharedLimits | null;
}

export function readGovernance(reading: Reading, field: Field | undefined): Governance {
  const fields = membersOf(field);
  const policies = readPolicies(reading, named(fields.get("policies")));
  const agents = new Map<string, NamedAgent>();
  for (const member of named(fields.get("agents"))) {
    agents.set(member.key, readAgent(reading, member, policies));
  }
  const sessions = new Map<string, SharedLimits>();
  for (const member of named(fields.get("sessions"))) {
    sessions.set(member.key, readShared(reading, member.value, aboutKey(member).place, "session", member.key));
  }
  const tenant = fields.get("tenant");
  const governance: Governance = {
    defaultPolicy: readPolicyName(reading, fields.get("default_policy"), policies) ?? defaultPolicy(policies),
    policies,
    agents,
    sessions,
    tenant: tenant === undefined ? null : readShared(reading, tenant, tenant.place, "tenant", "tenant"),
  };
  checkLayers(reading, governance);
  return governance;
}

/** Without a file: the table of dimensions and the presets. */
export function shippedGovernance(dimensions: Reading["dimensions"]): Governance {
  const policies = shippedPolicies(dimensions);
  return { defaultPolicy: defaultPolicy(policies), policies, agents: new Map(), sessions: new Map(), tenant: null };
}

function defaultPolicy(policies: ReadonlyMap<string, NamedPolicy>): Stated<string> {
  return { value: DEFAULT_POLICY, origin: policies.get(DEFAULT_POLICY)?.origin ?? BY_DEFAULT };
}

/** The members of a mapping whose keys are names that somebody chose. */
function named(field: Field | undefined): readonly Member[] {
  return field?.kind === "map" ? field.members : [];
}

function readPolicyName(
  reading: Reading,
  field: Field | undefined,
  policies: ReadonlyMap<string, NamedPolicy>,
): Stated<string> | null {
  const value = textIn(field);
  if (field === undefined || value === null) return null;
  if (!policies.has(value)) {
    reading.report(field, () => `is ${show(value)}, which is no policy; ${offer(value, [...policies.keys()])}`);
    return null;
  }
  return { value, origin: { kind: "policy", name: value, place: field.place } };
}

function readAgent(reading: Reading, member: Member, policies: ReadonlyMap<string, NamedPolicy>): NamedAgent {
  const { key: name, value, place } = member;
  const fields = membersOf(value);
  return {
    name,
    description: textIn(fields.get("description")),
    origin: { kind: "agent", name, place },
    policy: readPolicyName(reading, fields.get("policy"), policies),
    layer: readLayer(reading, fields, { kind: "agent", name }),
  };
}

function readShared(
  reading: Reading,
  field: Field,
  place: Origin["place"],
  kind: "session" | "tenant",
  name: string,
): SharedLimits {
  const fields = membersOf(field);
  return {
    name,
    description: textIn(fields.get("description")),
    origin: { kind, name, place },
    layer: readLayer(reading, fields, { kind, name }),
  };
}

/** Things that are right by themselves but not together. */
function checkLayers(reading: Reading, { policies, agents, defaultPolicy }: Governance): void {
  for (const { name, own, layer, origin } of policies.values()) {
    if (origin.kind === "policy") checkLayer(reading, own, layer, `governance.policies.${name}`);
  }
  for (const { name, layer, policy } of agents.values()) {
    const below = policies.get(policy?.value ?? defaultPolicy.value)?.layer;
    if (below !== undefined) checkLayer(reading, layer, laidOver(layer, below), `governance.agents.${name}`);
  }
}

/** `own` is what was said here, `whole` what it comes to. */
function checkLayer(reading: Reading, own: Layer, whole: Layer, path: string): void {
  for (const dimension of reading.dimensions.all) {
    const { id } = dimension;
    const limit = own.limits[id];
    const ceiling = whole.ceilings[id];
    if (limit !== undefined && ceiling !== undefined && isAbove(limit.value, ceiling.value)) {
      const about = { path: `${path}.budgets.${id}`, place: limit.origin.place };
      const most = `${printLimit(dimension, ceiling.value)} (${printCeiling(ceiling.origin)})`;
      reading.report(about, `is ${printLimit(dimension, limit.value)}, which is above the ceiling ${most}; lower one`);
    }
    checkReserve(reading, dimension, own, whole, path);
  }
}

function checkReserve(reading: Reading, dimension: Dimension, own: Layer, whole: Layer, path: string): void {
  const { id, defaultLimit } = dimension;
  const reserve = own.reserve[id];
  if (reserve === undefined || reserve.value === 0) return;
  const about = { path: `${path}.wrap_up_reserve.${id}`, place: reserve.origin.place };
  const limit = whole.limits[id] ?? { value: defaultLimit, origin: BY_DEFAULT };
  if (limit.value === null) reading.report(about, "has no limit to be set aside from; limit it in budgets");
  else if (reserve.value > limit.value) {
    const most = `${printLimit(dimension, limit.value)} (${printOrigin(limit.origin)})`;
    reading.report(about, `is ${printLimit(dimension, reserve.value)}, which is more than the limit ${most}; lower it`);
  }
}

/** Null is no limit, and so above every other. */
export function isAbove(value: Amount | null, other: Amount | null): boolean {
  return other !== null && (value === null || value > other);
}

/** A limit as one would write it: `0.50`, `20`, `no limit`. */
export function printLimit(dimension: Dimension, value: Amount | null): string {
  if (value === null) return "no limit";
  return dimension.unit === "USD" ? printUsd(value).slice(1) : printDecimal(value, dimension.decimals);
}
