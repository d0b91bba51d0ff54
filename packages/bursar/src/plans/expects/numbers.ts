import type { Pure } from "./pure.js";
import { type Entries, isCallable, isEntries, type Spend, Unknown, type Value } from "./value.js";

/** A function of numbers alone. */
const ofNumbers =
  (compute: (...values: readonly number[]) => number | boolean | undefined): Pure =>
  (args) =>
    args.every((value) => typeof value === "number") ? compute(...(args as readonly number[])) : undefined;

/** Whole numbers stay exact, or the plan fails. */
function exact(a: number, b: number, result: number): number | undefined {
  if (Number.isSafeInteger(result)) return result + 0;
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) return undefined;
  return Number.isFinite(result) ? result : undefined;
}

const folded = (start: number, values: readonly number[], next: (a: number, b: number) => number): number | undefined =>
  values.reduce<number | undefined>(
    (sum, value) => (sum === undefined ? undefined : exact(sum, value, next(sum, value))),
    start,
  );

const division = (compute: (a: number, b: number) => number): Pure =>
  ofNumbers((a = 0, b = 0) =>
    Number.isSafeInteger(a) && Number.isSafeInteger(b) && b !== 0 ? compute(a, b) + 0 : undefined,
  );

const ordered = (holds: (a: number, b: number) => boolean): Pure =>
  ofNumbers((...values) => values.every((value, index) => index === 0 || holds(values[index - 1] as number, value)));

const whole = (test: (value: number) => boolean): Pure =>
  ofNumbers((value = 0) => (Number.isSafeInteger(value) ? test(value) : undefined));

function divided(values: readonly number[]): number | undefined {
  const all = values.length === 1 ? [1, ...values] : values;
  return all.reduce<number | undefined>((a, b, index) => {
    if (index === 0 || a === undefined) return index === 0 ? b : undefined;
    const result = b === 0 ? Number.NaN : a / b;
    return Number.isFinite(result) ? result + 0 : undefined;
  }, 0);
}

/** Whether two values are the same; null when nobody knows. */
export function sameness(a: Value, b: Value, spend: Spend): boolean | null {
  spend(1);
  if (a instanceof Unknown || b instanceof Unknown || isCallable(a) || isCallable(b)) return null;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  const [one, other] = [a as Entries, b as Entries];
  const keys = Object.keys(one);
  if (Array.isArray(a) !== Array.isArray(b) || keys.length !== Object.keys(other).length) return false;
  let result: boolean | null = true;
  for (const key of keys) {
    const same = Object.hasOwn(other, key) ? sameness(one[key] as Value, other[key] as Value, spend) : false;
    if (same === false) return false;
    if (same === null) result = null;
  }
  return result;
}

function allSame([first = null, ...rest]: readonly Value[], spend: Spend): boolean | undefined {
  const found = rest.map((value) => sameness(first, value, spend));
  if (found.includes(false)) return false;
  return found.includes(null) ? undefined : true;
}

/** Arithmetic and comparison, by the names that the guest has for them. */
export const NUMBERS: Readonly<Record<string, Pure>> = {
  add: ofNumbers((...values) => folded(0, values, (a, b) => a + b)),
  multiply: ofNumbers((...values) => folded(1, values, (a, b) => a * b)),
  subtract: ofNumbers((first = 0, ...rest) => (rest.length === 0 ? 0 - first : folded(first, rest, (a, b) => a - b))),
  divide: ofNumbers((...values) => divided(values)),
  quotient: division((a, b) => (a - (a % b)) / b),
  remainder: division((a, b) => a % b),
  modulo: division((a, b) => (a % b !== 0 && a < 0 !== b < 0 ? (a % b) + b : a % b)),
  increment: ofNumbers((value = 0) => exact(value, 1, value + 1)),
  decrement: ofNumbers((value = 0) => exact(value, 1, value - 1)),
  absolute: ofNumbers((value = 0) => Math.abs(value) + 0),
  round: ofNumbers((value = 0) => Math.round(value) + 0),
  floor: ofNumbers((value = 0) => Math.floor(value) + 0),
  ceiling: ofNumbers((value = 0) => Math.ceil(value) + 0),
  least: ofNumbers((...values) => values.reduce((a, b) => Math.min(a, b))),
  greatest: ofNumbers((...values) => values.reduce((a, b) => Math.max(a, b))),
  below: ordered((a, b) => a < b),
  atMost: ordered((a, b) => a <= b),
  above: ordered((a, b) => a > b),
  atLeast: ordered((a, b) => a >= b),
  same: allSame,
  differ: (args, spend) => {
    const same = allSame(args, spend);
    return same === undefined ? undefined : !same;
  },
  isZero: ofNumbers((value) => value === 0),
  isPositive: ofNumbers((value = 0) => value > 0),
  isNegative: ofNumbers((value = 0) => value < 0),
  isEven: whole((value) => value % 2 === 0),
  isOdd: whole((value) => value % 2 !== 0),
};

const kind =
  (test: (value: Value) => boolean): Pure =>
  ([value = null]) =>
    value instanceof Unknown ? undefined : test(value);

/** What a value is. */
export const KINDS: Readonly<Record<string, Pure>> = {
  not: kind((value) => value === null || value === false),
  boolean: kind((value) => value !== null && value !== false),
  identity: ([value = null]) => value,
  isNil: kind((value) => value === null),
  isSome: kind((value) => value !== null),
  isTrue: kind((value) => value === true),
  isFalse: kind((value) => value === false),
  isBoolean: kind((value) => typeof value === "boolean"),
  isNumber: kind((value) => typeof value === "number"),
  isInteger: kind((value) => Number.isSafeInteger(value)),
  isString: kind((value) => typeof value === "string"),
  isVector: kind((value) => Array.isArray(value)),
  isAMap: kind((value) => isEntries(value)),
  isFunction: kind((value) => isCallable(value)),
};
