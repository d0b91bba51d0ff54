import type { Dimensions } from "../core/dimensions.js";
import { type ExhaustionPolicy, strictest } from "../core/policy.js";
import type { Configuration } from "./configuration.js";
import { isAbove, type SharedLimits } from "./governance.js";
import { EMPTY_LAYER, type Layer } from "./layer.js";
import type { Origin, Stated, StatedBy } from "./origin.js";
import { readPlainLayer } from "./override.js";

/** Limits for a session, as whoever opens it gives them; what the file says of it counts too. */
export interface SessionInput {
  readonly name?: string;
  readonly limits?: Readonly<Record<string, number | string | null | undefined>>;
  readonly policies?: Readonly<Record<string, string>>;
}

/** A budget that a run shares with others. */
export interface SharedBudget {
  readonly kind: "session" | "tenant";
  readonly name: string;
  readonly origin: Origin;
  readonly layer: Layer;
}

/** The settings of every session that the file does not name. */
const ANY_SESSION = "default";

/** The shared budgets above a run, outermost first. */
export function sharedBudgets(
  config: Configuration,
  session: string | SessionInput | null | undefined,
): readonly SharedBudget[] {
  const tenant = tenantOf(config);
  const shared: SharedBudget[] = tenant === null ? [] : [{ ...tenant, kind: "tenant" }];
  if (session === null || session === undefined) return shared;
  const input = typeof session === "string" ? { name: session } : session;
  const name = input.name ?? "session";
  const found = sessionOf(config, name);
  const given = readPlainLayer(input, config.dimensions, { kind: "session", name }, "session");
  const origin: Origin = found?.origin ?? { kind: "session", name, place: null };
  return [
    ...shared,
    { kind: "session", name, origin, layer: narrower(given, found?.layer ?? EMPTY_LAYER, config.dimensions) },
  ];
}

/** What all files in force say of the tenant. */
export function tenantOf(config: Configuration): SharedLimits | null {
  return config.tightenedBy.reduce(
    (known, { tenant }) => narrowedShared(known, tenant, config.dimensions),
    config.tenant,
  );
}

/** What all files in force say of a session; null when none does. */
export function sessionOf(config: Configuration, name: string): SharedLimits | null {
  const own = ({ sessions }: Configuration) => sessions.get(name) ?? sessions.get(ANY_SESSION) ?? null;
  return config.tightenedBy.reduce(
    (known, folder) => narrowedShared(known, own(folder), config.dimensions),
    own(config),
  );
}

function narrowedShared(
  known: SharedLimits | null,
  folder: SharedLimits | null,
  dimensions: Dimensions,
): SharedLimits | null {
  if (known === null || folder === null) return known ?? folder;
  return { ...known, layer: narrower(folder.layer, known.layer, dimensions) };
}

/** Of two layers for one session, the lower limit and the stricter policy: neither is a way round the other. */
function narrower(given: Layer, found: Layer, dimensions: Dimensions): Layer {
  return {
    ...found,
    limits: joined(given.limits, found.limits, (a, b) => (isAbove(a, b) ? b : a)),
    policies: joined(given.policies, { ...impliedBy(found, dimensions), ...found.policies }, strictest),
  };
}

/** Who limits something and does not say what happens then has said that the usual thing does. */
function impliedBy({ limits }: Layer, dimensions: Dimensions): StatedBy<ExhaustionPolicy> {
  const implied = Object.entries(limits).map(([id, { origin }]) => {
    return [id, { value: dimensions.get(id).defaultPolicy, origin }] as const;
  });
  return Object.fromEntries(implied);
}

function joined<Value>(
  a: Readonly<Record<string, Stated<Value>>>,
  b: Readonly<Record<string, Stated<Value>>>,
  choose: (a: Value, b: Value) => Value,
): Readonly<Record<string, Stated<Value>>> {
  const both: Record<string, Stated<Value>> = { ...b };
  for (const [id, stated] of Object.entries(a)) {
    const other = b[id];
    const isOther = other !== undefined && choose(stated.value, other.value) === other.value;
    both[id] = isOther ? other : stated;
  }
  return both;
}
