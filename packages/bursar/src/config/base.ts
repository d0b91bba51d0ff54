import type { Amount } from "../core/amount.js";
import type { Dimensions } from "../core/dimensions.js";
import { type ExhaustionPolicy, strictest } from "../core/policy.js";
import type { EffectiveBudget } from "./effective.js";
import { isAbove } from "./governance.js";
import type { Layer } from "./layer.js";
import { BY_DEFAULT, type Origin, printOrigin, type Stated } from "./origin.js";

/** What a run gets of one dimension unless whoever starts it says otherwise. */
export interface BaseLimit {
  readonly limit: Stated<Amount | null>;
  readonly policy: Stated<ExhaustionPolicy>;
  readonly ceiling: Stated<Amount | null> | null;
}

/** By dimension id; every dimension is there. */
export type Base = ReadonlyMap<string, BaseLimit>;

/** The lower of two limits; the first when they are equal. */
export function lower(a: Stated<Amount | null>, b: Stated<Amount | null> | null | undefined): Stated<Amount | null> {
  return b !== null && b !== undefined && isAbove(a.value, b.value) ? b : a;
}

/** A run that nobody is above: what the layer does not name takes its value from the table of dimensions. */
export function rootBase(dimensions: Dimensions, layer: Layer): Base {
  const limits = dimensions.all.map(({ id, defaultLimit, defaultPolicy }): [string, BaseLimit] => {
    const ceiling = layer.ceilings[id] ?? null;
    const limit = lower(layer.limits[id] ?? { value: defaultLimit, origin: BY_DEFAULT }, ceiling);
    return [id, { limit, policy: layer.policies[id] ?? { value: defaultPolicy, origin: BY_DEFAULT }, ceiling }];
  });
  return new Map(limits);
}

/** The same, or less where the layer of a working folder's file names less. */
export function narrowedBase(base: Base, layer: Layer): Base {
  const limits = [...base].map(([id, own]): [string, BaseLimit] => {
    const ceiling = own.ceiling === null ? (layer.ceilings[id] ?? null) : lower(own.ceiling, layer.ceilings[id]);
    const policy = layer.policies[id];
    const isStricter = policy !== undefined && strictest(policy.value, own.policy.value) !== own.policy.value;
    const limit = lower(lower(own.limit, layer.limits[id]), layer.ceilings[id]);
    return [id, { limit, policy: isStricter ? policy : own.policy, ceiling }];
  });
  return new Map(limits);
}

/** A child: what its parent got, or less where the layer names less. What the layer does not name is no limit here. */
export function childBase(layer: Layer, parent: EffectiveBudget): Base {
  const limits = parent.dimensions.map(({ dimension: { id }, limit, policy }): [string, BaseLimit] => {
    const ceiling = layer.ceilings[id] ?? null;
    const own = layer.policies[id];
    const from = { value: policy.value, origin: ofParent(policy.origin) };
    const isStricter = own !== undefined && strictest(own.value, policy.value) !== policy.value;
    const inherited = { value: limit.value, origin: ofParent(limit.origin) };
    return [
      id,
      { limit: lower(lower(inherited, layer.limits[id]), ceiling), policy: isStricter ? own : from, ceiling },
    ];
  });
  return new Map(limits);
}

function ofParent(origin: Origin): Origin {
  if (origin.kind === "parent") return origin;
  return { kind: "parent", name: printOrigin({ ...origin, place: null }), place: origin.place };
}
