import type { Place } from "./place.js";

/** Who says so: which part of a configuration, or who started the run. */
export type OriginKind =
  | "default"
  | "preset"
  | "policy"
  | "agent"
  | "override"
  | "ceiling"
  | "session"
  | "tenant"
  | "parent";

/** Where a value comes from. */
export interface Origin {
  readonly kind: OriginKind;
  /** Of the policy, the agent, the session, or what the override was given by. */
  readonly name: string | null;
  readonly place: Place | null;
}

/** A value with its origin. */
export interface Stated<Value> {
  readonly value: Value;
  readonly origin: Origin;
}

/** What is said by dimension id. */
export type StatedBy<Value> = Readonly<Record<string, Stated<Value>>>;

/** The table of dimensions itself. */
export const BY_DEFAULT: Origin = Object.freeze({ kind: "default", name: null, place: null });

/** An origin for people: `policy moderate, bursar.yaml:12`, `preset strict`, `default`. */
export function printOrigin({ kind, name, place }: Origin): string {
  const who = kind === "ceiling" ? `ceiling of ${name}` : kind === "override" ? (name ?? kind) : words(kind, name);
  return placed(who, place);
}

/** The policy of a ceiling, where it has been said already that it is one. */
export function printCeiling({ name, place }: Origin): string {
  return placed(name ?? "policy", place);
}

function placed(who: string, place: Place | null): string {
  return place === null || place.line === null ? who : `${who}, ${place.file}:${place.line}`;
}

function words(kind: OriginKind, name: string | null): string {
  return name === null || name === kind ? kind : `${kind} ${name}`;
}
