import type { Amount } from "./amount.js";
import { fromDecimal, printDecimal, printUsd, type Rounding, toDecimal } from "./decimal.js";
import { InputError, show } from "./errors.js";
import { type ExhaustionPolicy, POLICIES } from "./policy.js";

/**
 * How usage adds up: a `sum` grows with every call, a `peak` keeps the highest value seen, a `clock` runs by itself
 * and is never reserved.
 */
export type DimensionKind = "sum" | "peak" | "clock";

/** One thing that can be limited. The same id stands in TypeScript, JSON, YAML, SQL and the chain. */
export interface Dimension {
  readonly id: string;
  readonly kind: DimensionKind;
  /** For people: `tokens`, `bytes`, `USD`. */
  readonly unit: string;
  /** Places behind the point at the edges; inside, amounts are whole numbers of the smallest unit. */
  readonly decimals: number;
  /** What a run gets when it names no limit; null is no limit. */
  readonly defaultLimit: Amount | null;
  readonly defaultPolicy: ExhaustionPolicy;
  readonly description: string;
}

/** What a caller says of a dimension of their own. */
export interface DimensionDefinition {
  readonly id: string;
  readonly kind: DimensionKind;
  readonly unit?: string;
  readonly decimals?: number;
  /** In edge units, as a caller would write a limit. */
  readonly defaultLimit?: number | null;
  readonly defaultPolicy?: ExhaustionPolicy;
  readonly description?: string;
}

const ID = /^[a-z][a-z0-9_]{0,62}$/;
/** A deadline is reported under that name beside the dimensions; the other is a trap in any object. */
const TAKEN = ["deadline", "constructor"];
const KINDS: readonly DimensionKind[] = ["sum", "peak", "clock"];

/** Looks at one that may not have been made here: whatever has no whole number of places cannot be written down. */
export function checkDimension({ id, kind, decimals }: Dimension): void {
  if (typeof id !== "string" || !ID.test(id) || !KINDS.includes(kind) || !Number.isInteger(decimals)) {
    throw new InputError("dimension", `${show(id)} is none; make it with defineDimension()`);
  }
}

/**
 * Defines a dimension of the caller's own. It works in every place a built-in one does.
 *
 * @example
 * ```ts
 * const emails = defineDimension({ id: "emails_sent", kind: "sum", unit: "emails", defaultLimit: 20 });
 * const dimensions = STANDARD.with(emails);
 * ```
 */
export function defineDimension(definition: DimensionDefinition): Dimension {
  if (typeof definition !== "object" || definition === null) {
    throw new InputError("dimension", `is ${show(definition)}; allowed: an object with at least id and kind`);
  }
  const { id, kind, unit = "units", decimals = 0, defaultPolicy = "hard_stop", description = "" } = definition;
  const limit = definition.defaultLimit ?? null;
  if (TAKEN.includes(id)) throw new InputError("dimension.id", `is "${id}", which is taken; choose another`);
  if (typeof id !== "string" || !ID.test(id)) {
    throw new InputError("dimension.id", `is ${show(id)}; allowed: lower-case letters, digits and _, at most 63`);
  }
  check("dimension.kind", kind, KINDS);
  check("dimension.defaultPolicy", defaultPolicy, POLICIES);
  if (typeof unit !== "string" || unit === "") throw new InputError("dimension.unit", "must be a word such as bytes");
  if (typeof description !== "string") throw new InputError("dimension.description", "must be a text");
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > 9) {
    throw new InputError("dimension.decimals", `is ${show(decimals)}; allowed: a whole number from 0 to 9`);
  }
  if (kind === "clock" && decimals !== 0)
    throw new InputError("dimension.decimals", "must be 0: clocks count whole ms");
  return Object.freeze({
    id,
    kind,
    unit,
    decimals,
    defaultLimit: limit === null ? null : fromDecimal(limit, decimals, "down", "dimension.defaultLimit"),
    defaultPolicy,
    description,
  });
}

/** Reads an amount as a caller writes it: dollars for money, whole numbers for everything else. */
export function readAmount(dimension: Dimension, value: unknown, rounding: Rounding, field: string): Amount {
  return fromDecimal(value, dimension.decimals, rounding, field);
}

/** An amount as a caller reads it, and as the chain and the API write it. */
export function writeAmount(dimension: Dimension, value: number): number {
  return toDecimal(value, dimension.decimals);
}

/** What one of them is called, where the table of dimensions counts in words. */
const ONE: ReadonlyMap<string, string> = new Map(
  ["call", "token", "byte", "round", "run", "level", "unit"].map((one) => [`${one}s`, one]),
);

/** An amount with its unit, for people: `$0.50`, `1,200 tokens`, `1 call`. */
export function printAmount(dimension: Dimension, value: number): string {
  if (dimension.unit === "USD") return printUsd(value);
  const [whole = "", fraction] = printDecimal(value, dimension.decimals).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  const isOne = whole === "1" && fraction === undefined;
  const unit = (isOne ? ONE.get(dimension.unit) : undefined) ?? dimension.unit;
  return `${grouped}${fraction === undefined ? "" : `.${fraction}`} ${unit}`;
}

function check<T extends string>(field: string, value: T, known: readonly T[]): void {
  if (!known.includes(value)) throw new InputError(field, `is ${show(value)}; allowed: ${known.join(", ")}`);
}
