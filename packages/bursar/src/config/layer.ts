import type { Amount } from "../core/amount.js";
import { InputError } from "../core/errors.js";
import { readThresholds } from "../core/input.js";
import type { ExhaustionPolicy } from "../core/policy.js";
import { byDimension, readAmountField, readLimitField, readPolicyField } from "./amounts.js";
import { describeField, type Field } from "./field.js";
import type { Origin, Stated, StatedBy } from "./origin.js";
import type { Place } from "./place.js";
import type { Reading } from "./reading.js";
import { readUnits, UNIT_EXAMPLES } from "./units.js";

/** What one part of a configuration says about budgets. What it does not name, it says nothing about. */
export interface Layer {
  /** Null is no limit. */
  readonly limits: StatedBy<Amount | null>;
  readonly policies: StatedBy<ExhaustionPolicy>;
  /** What no override can pass; null is no ceiling. */
  readonly ceilings: StatedBy<Amount | null>;
  /** What is set aside for the final answer. */
  readonly reserve: StatedBy<Amount>;
  readonly thresholds: Stated<readonly number[]> | null;
  readonly approval_expiry_ms: Stated<number> | null;
}

/** The keys of a layer, in the order of the documentation. */
export const LAYER_KEYS: readonly string[] = [
  "budgets",
  "exhaustion_policies",
  "ceilings",
  "thresholds",
  "wrap_up_reserve",
  "approval_expiry_ms",
];

/** Who says what a layer says. */
export interface Speaker {
  readonly kind: Origin["kind"];
  readonly name: string;
}

export const EMPTY_LAYER: Layer = Object.freeze({
  limits: {},
  policies: {},
  ceilings: {},
  reserve: {},
  thresholds: null,
  approval_expiry_ms: null,
});

/** Reads the keys of a layer out of the members of a mapping. */
export function readLayer(reading: Reading, members: ReadonlyMap<string, Field>, speaker: Speaker): Layer {
  const says = (place: Place | null): Origin => ({ ...speaker, place });
  const caps = (place: Place | null): Origin => ({ kind: "ceiling", name: `${speaker.kind} ${speaker.name}`, place });
  const thresholds = members.get("thresholds");
  const expiry = members.get("approval_expiry_ms");
  return {
    limits: stated(reading, members.get("budgets"), says, (dimension, field) =>
      readLimitField(reading, dimension, field),
    ),
    policies: stated(reading, members.get("exhaustion_policies"), says, (_, field) => readPolicyField(reading, field)),
    ceilings: stated(reading, members.get("ceilings"), caps, (dimension, field) =>
      readLimitField(reading, dimension, field),
    ),
    reserve: readReserve(reading, members.get("wrap_up_reserve"), says),
    thresholds: thresholds === undefined ? null : readThresholdsField(reading, thresholds, says),
    approval_expiry_ms: expiry === undefined ? null : readExpiry(reading, expiry, says),
  };
}

/** One layer on another: what the upper one names, the lower one no longer says. */
export function laidOver(upper: Layer, lower: Layer): Layer {
  return {
    limits: { ...lower.limits, ...upper.limits },
    policies: { ...lower.policies, ...upper.policies },
    ceilings: { ...lower.ceilings, ...upper.ceilings },
    reserve: { ...lower.reserve, ...upper.reserve },
    thresholds: upper.thresholds ?? lower.thresholds,
    approval_expiry_ms: upper.approval_expiry_ms ?? lower.approval_expiry_ms,
  };
}

type Read<Value> = (dimension: ReturnType<typeof byDimension>[number]["dimension"], field: Field) => Value | undefined;

function stated<Value>(
  reading: Reading,
  field: Field | undefined,
  says: (place: Place | null) => Origin,
  read: Read<Value>,
): StatedBy<Value> {
  const found: Record<string, Stated<Value>> = {};
  if (field === undefined) return found;
  for (const { dimension, value: inner } of byDimension(reading, field)) {
    const value = read(dimension, inner);
    if (value !== undefined) found[dimension.id] = { value, origin: says(inner.place) };
  }
  return found;
}

function readReserve(
  reading: Reading,
  field: Field | undefined,
  says: (place: Place | null) => Origin,
): StatedBy<Amount> {
  return stated(reading, field, says, (dimension, inner) => {
    if (dimension.kind !== "peak") return readAmountField(reading, dimension, inner);
    reading.report(inner, "is a peak, which cannot be set aside; leave it out");
    return undefined;
  });
}

function readThresholdsField(
  reading: Reading,
  field: Field,
  says: (place: Place | null) => Origin,
): Stated<readonly number[]> | null {
  const values = field.kind === "list" ? field.items.map((item) => (item.kind === "scalar" ? item.value : null)) : null;
  try {
    return { value: readThresholds(values, field.path), origin: says(field.place) };
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    reading.report(field, error.message.slice(field.path.length + 1));
    return null;
  }
}

const MOST_EXPIRY_MS = 366 * 86_400_000;

function readExpiry(reading: Reading, field: Field, says: (place: Place | null) => Origin): Stated<number> | null {
  const given = field.kind === "scalar" ? field.value : null;
  const value = typeof given === "string" ? readUnits(given, "time") : given;
  if (typeof value === "number" && Number.isInteger(value) && value > 0 && value <= MOST_EXPIRY_MS) {
    return { value, origin: says(field.place) };
  }
  const allowed = `a whole number of ms from 1 to ${MOST_EXPIRY_MS}, or ${UNIT_EXAMPLES.time}`;
  reading.report(field, `is ${describeField(field)}; allowed: ${allowed}`);
  return null;
}
