import type { Dimensions } from "../core/dimensions.js";
import { show } from "../core/errors.js";
import type { Field, Member } from "./field.js";
import { EMPTY_LAYER, LAYER_KEYS, type Layer, laidOver, readLayer } from "./layer.js";
import { BY_DEFAULT, type Origin } from "./origin.js";
import { plainField } from "./plain.js";
import { type PolicyInput, PRESETS } from "./presets.js";
import { type About, membersOf, offer, Reading, textIn } from "./reading.js";

/** A named policy: what runs get by default, and what no override can pass. */
export interface NamedPolicy {
  readonly name: string;
  readonly description: string | null;
  /** The file, the shipped presets, or the table of dimensions. */
  readonly origin: Origin;
  readonly extends: string | null;
  /** What it says itself. */
  readonly own: Layer;
  /** With everything that it extends. */
  readonly layer: Layer;
}

/** The policy that is meant when nobody names one; without a file it is the table of dimensions. */
export const DEFAULT_POLICY = "default";

/** A policy as it was read, before what it extends is known. */
interface Draft {
  readonly policy: Omit<NamedPolicy, "layer">;
  readonly about: About;
  /** Where it says what it extends. */
  readonly base: About;
}

/** The policies that are there without a file. */
export function shippedPolicies(dimensions: Dimensions): ReadonlyMap<string, NamedPolicy> {
  const shipped = new Map<string, NamedPolicy>();
  const bare = { name: DEFAULT_POLICY, description: "The table of dimensions itself.", origin: BY_DEFAULT };
  shipped.set(DEFAULT_POLICY, { ...bare, extends: null, own: EMPTY_LAYER, layer: EMPTY_LAYER });
  for (const [name, input] of Object.entries(PRESETS)) shipped.set(name, preset(name, input, dimensions));
  return shipped;
}

function preset(name: string, input: PolicyInput, dimensions: Dimensions): NamedPolicy {
  const reading = new Reading(null, dimensions);
  const members = new Map(
    LAYER_KEYS.flatMap((key): [string, Field][] => {
      const value = input[key as keyof PolicyInput];
      return value === undefined ? [] : [[key, plainField(reading, countedBy(dimensions, value), `${name}.${key}`)]];
    }),
  );
  const own = readLayer(reading, members, { kind: "preset", name });
  reading.finish();
  const origin: Origin = { kind: "preset", name, place: null };
  return { name, description: input.description ?? null, origin, extends: null, own, layer: own };
}

/** A ledger may count fewer dimensions than the presets name. */
function countedBy(dimensions: Dimensions, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([id]) => dimensions.has(id)));
}

/** Reads the policies of a file and lays each over what it extends. The shipped ones are there too. */
export function readPolicies(reading: Reading, members: readonly Member[]): ReadonlyMap<string, NamedPolicy> {
  const shipped = shippedPolicies(reading.dimensions);
  const drafts = new Map<string, Draft>();
  for (const member of members) drafts.set(member.key, readDraft(reading, member, shipped));
  const policies = new Map(shipped);
  for (const name of drafts.keys()) resolve(reading, name, drafts, shipped, policies);
  const inOrder = new Set([...drafts.keys(), ...shipped.keys()]);
  return new Map([...inOrder].flatMap((name) => policies.get(name) ?? []).map((policy) => [policy.name, policy]));
}

function readDraft(reading: Reading, member: Member, shipped: ReadonlyMap<string, NamedPolicy>): Draft {
  const { key: name, place, value } = member;
  const about = { path: value.path, place };
  const fields = membersOf(value);
  const base = fields.get("extends");
  const extended = textIn(base);
  const own = readLayer(reading, fields, { kind: "policy", name });
  const policy = {
    name,
    description: textIn(fields.get("description")),
    origin: { kind: "policy", name, place } as const,
    extends: extended,
    own,
  };
  if (shipped.get(name)?.origin.kind === "preset" && base === undefined) {
    reading.note(about, `replaces the shipped policy of that name; to build on it, write extends: ${name}`);
  }
  return { policy, about, base: base ?? about };
}

/** Walks up to a policy that is resolved, then lays the others over it; not by calling itself, for files are hostile. */
function resolve(
  reading: Reading,
  name: string,
  drafts: ReadonlyMap<string, Draft>,
  shipped: ReadonlyMap<string, NamedPolicy>,
  policies: Map<string, NamedPolicy>,
): void {
  const waiting: Draft[] = [];
  const seen = new Set<string>();
  let layer: Layer = EMPTY_LAYER;
  let next: string | null = name;
  while (next !== null) {
    const draft = drafts.get(next);
    const known = policies.get(next);
    const isResolved = known !== undefined && known.origin.kind === "policy";
    if (isResolved || draft === undefined) {
      if (known === undefined) refuseUnknown(reading, next, waiting.at(-1), drafts, shipped);
      layer = known?.layer ?? EMPTY_LAYER;
      break;
    }
    if (seen.has(next)) {
      reading.report(draft.base, `goes round in a circle: ${circle([...seen], next)}; break it`);
      break;
    }
    seen.add(next);
    waiting.push(draft);
    next = draft.policy.extends;
    // A policy that extends its own name means the shipped one, which it stands in front of.
    if (next === draft.policy.name && shipped.has(next)) {
      layer = shipped.get(next)?.layer ?? EMPTY_LAYER;
      break;
    }
  }
  for (const { policy } of waiting.toReversed()) {
    layer = laidOver(policy.own, layer);
    policies.set(policy.name, { ...policy, layer });
  }
}

const MOST_NAMED = 6;

function circle(names: readonly string[], last: string): string {
  const some = names.length > MOST_NAMED ? [...names.slice(0, MOST_NAMED), "…"] : names;
  return [...some, last].join(" extends ");
}

function refuseUnknown(
  reading: Reading,
  name: string,
  from: Draft | undefined,
  drafts: ReadonlyMap<string, Draft>,
  shipped: ReadonlyMap<string, NamedPolicy>,
): void {
  if (from === undefined) return;
  reading.report(from.base, () => {
    const known = new Set([...drafts.keys(), ...shipped.keys()]);
    known.delete(from.policy.name);
    return `is ${show(name)}, which is no policy; ${offer(name, [...known])}`;
  });
}
