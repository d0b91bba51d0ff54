import type { Dimension } from "../core/dimension.js";
import { readAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { Prediction } from "../ports/foresight.js";

/**
 * What a run is expected to take by whoever knows it, in edge units: a number where it is always the same, else the median and
 * what 95 of 100 runs do not pass. What is not known is left out.
 */
export type Expectation = Readonly<Record<string, number | Prediction>>;

/** Reads what somebody expects. A part of it that makes no sense is refused, because the rest would not be worth more. */
export function readExpectation(
  expected: unknown,
  dimensions: Dimensions,
  field: string,
): Readonly<Record<string, Prediction>> {
  if (typeof expected !== "object" || expected === null || Array.isArray(expected)) {
    throw new InputError(field, `is ${show(expected)}; allowed: an object keyed by dimension, such as { steps: 5 }`);
  }
  const read: Record<string, Prediction> = {};
  for (const [key, value] of Object.entries(expected)) {
    const name = `${field}.${key}`;
    const dimension = dimensions.resolve(key, name);
    if (read[dimension.id] !== undefined) {
      throw new InputError(name, `says ${dimension.id} a second time; give it once`);
    }
    read[dimension.id] = readPrediction(value, dimension, name);
  }
  return read;
}

function readPrediction(value: unknown, dimension: Dimension, field: string): Prediction {
  if (typeof value === "number") {
    const amount = figure(value, dimension, field);
    return { median: amount, upper: amount };
  }
  checkKeys(value, field, ["median", "upper"]);
  const { median: middle, upper: bound } = value as Partial<Prediction>;
  const median = figure(middle, dimension, `${field}.median`);
  const upper = figure(bound, dimension, `${field}.upper`);
  if (upper < median)
    throw new InputError(`${field}.upper`, `is ${bound}, below the median; allowed: ${middle} or more`);
  return { median, upper };
}

/** A median need not be a whole number, even where nobody can use half of one. */
function figure(value: unknown, dimension: Dimension, field: string): number {
  const whole = dimension.decimals === 0 && typeof value === "number" ? Math.ceil(value) : value;
  return readAmount(dimension, whole, "up", field);
}
