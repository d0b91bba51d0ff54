import type { Amount } from "../core/amount.js";
import { type Dimension, readAmount } from "../core/dimension.js";
import { InputError } from "../core/errors.js";
import { nearest } from "../core/nearest.js";
import { POLICIES } from "../core/policy.js";
import { describeField, type Field, type ScalarField } from "./field.js";
import { type About, aboutKey, type Reading } from "./reading.js";
import { readUnits, UNIT_EXAMPLES, type UnitKind } from "./units.js";

/** A dimension that a mapping names, with what it says of it. */
export interface Keyed {
  readonly dimension: Dimension;
  readonly value: Field;
  readonly key: About;
}

/** The members of a mapping keyed by dimension, each dimension at most once whatever its name was. */
export function byDimension(reading: Reading, field: Field): readonly Keyed[] {
  const seen = new Map<string, Keyed>();
  if (field.kind !== "map") {
    reading.report(field, `is ${describeField(field)}; allowed: a mapping keyed by dimension, such as steps: 50`);
    return [];
  }
  for (const member of field.members) {
    const key = aboutKey(member);
    const dimension = dimensionOf(reading, member.key, key);
    if (dimension === null) continue;
    const earlier = seen.get(dimension.id);
    const line = earlier?.key.place?.line ?? null;
    if (earlier === undefined) seen.set(dimension.id, { dimension, value: member.value, key });
    else
      reading.report(key, `says ${dimension.id} a second time${line === null ? "" : `, after line ${line}`}; keep one`);
  }
  return [...seen.values()];
}

export function dimensionOf(reading: Reading, name: string, about: About): Dimension | null {
  try {
    return reading.dimensions.resolve(name);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    // Whoever is told what they most likely meant need not read all names.
    const complaint = error.message.slice(name.length + 1).replace(/(did you mean [^?]+\?); known: .*$/, "$1");
    reading.report(about, complaint);
    return null;
  }
}

/** What stands for no limit; undefined after a complaint. */
export type LimitValue = Amount | null | undefined;

/** Reads a limit: a number in edge units, a text with a unit, `0` for none of it, null for no limit. */
export function readLimitField(reading: Reading, dimension: Dimension, field: Field): LimitValue {
  if (field.kind === "scalar" && field.value === null) return null;
  if (field.kind === "empty") {
    reading.report(field, "has no value; write null for no limit, or 0 for none of it");
    return undefined;
  }
  return readAmountField(reading, dimension, field);
}

/** The same where there has to be an amount; undefined after a complaint. */
export function readAmountField(reading: Reading, dimension: Dimension, field: Field): Amount | undefined {
  if (field.kind !== "scalar" || typeof field.value === "boolean" || field.value === null) {
    reading.report(field, `is ${describeField(field)}; allowed: ${allowedFor(dimension)}`);
    return undefined;
  }
  const number = typeof field.value === "number" ? exactNumber(reading, field) : unitNumber(reading, dimension, field);
  if (number === null) return undefined;
  try {
    return readAmount(dimension, number, "down", field.path);
  } catch (error) {
    if (!(error instanceof InputError)) throw error;
    reading.report(field, error.message.slice(field.path.length + 1));
    return undefined;
  }
}

/** A double keeps every number of so many digits apart from all others; of whole ones some with more. */
const MOST_DIGITS = 15;
const WHOLE = /^[+-]?\d+(?:\.0*)?$/;

/** A number that was written more exactly than it can be kept is another number. */
function exactNumber(reading: Reading, field: ScalarField): number | null {
  const [mantissa = ""] = (field.written ?? "").toLowerCase().split("e");
  const digits = mantissa.replace(/[^0-9]/g, "").replace(/^0+/, "");
  const significant = mantissa.includes(".") ? digits.replace(/0+$/, "") : digits;
  const isDecimal = /^[+-]?[0-9.]+$/.test(mantissa);
  if (WHOLE.test(field.written ?? "") && Number.isSafeInteger(field.value)) return field.value as number;
  if (isDecimal && significant.length > MOST_DIGITS) {
    reading.report(field, `is ${field.written}, which has more than ${MOST_DIGITS} digits; write fewer`);
    return null;
  }
  return field.value as number;
}

function unitNumber(reading: Reading, dimension: Dimension, field: ScalarField): number | null {
  const text = String(field.value);
  const kind = unitsOf(dimension);
  const number = kind === null ? null : readUnits(text, kind);
  if (number === null)
    reading.report(field, `is ${describeField(field)}${hint(text)}; allowed: ${allowedFor(dimension)}`);
  return number;
}

/** What somebody who wrote that most likely wants to write. */
function hint(text: string): string {
  if (/^(?:unlimited|infinite|infinity|inf|none|nil|no limit)$/i.test(text)) return "; did you mean null?";
  const plain = text.replace(/[$_,'\s]|USD/gi, "");
  return /^\d+(?:\.\d+)?$/.test(plain) ? `; did you mean ${plain}${plain === text ? " without quotes" : ""}?` : "";
}

function unitsOf({ unit, kind }: Dimension): UnitKind | null {
  if (unit === "bytes") return "size";
  return kind === "clock" || unit === "ms" ? "time" : null;
}

function allowedFor(dimension: Dimension): string {
  const units = unitsOf(dimension);
  const number = dimension.decimals === 0 ? `a whole number of ${dimension.unit}` : `a number of ${dimension.unit}`;
  return units === null ? number : `${number}, or ${UNIT_EXAMPLES[units]}`;
}

/** Reads what exhaustion sets off; undefined after a complaint. */
export function readPolicyField(reading: Reading, field: Field): (typeof POLICIES)[number] | undefined {
  const word = field.kind === "scalar" && typeof field.value === "string" ? field.value.replaceAll("-", "_") : "";
  const policy = POLICIES.find((known) => known === word);
  if (policy === undefined) {
    const guess = word === "" ? null : nearest(word, POLICIES);
    const meant = guess === null ? "" : `; did you mean ${guess}?`;
    reading.report(field, `is ${describeField(field)}${meant}; allowed: ${POLICIES.join(", ")}`);
  }
  return policy;
}
