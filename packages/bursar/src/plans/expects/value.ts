import type { Json } from "../../core/chain/canonical.js";
import type { FunctionExpression } from "../expression.js";
import type { Builtin } from "../library/builtin.js";
import type { Scene } from "./scene.js";

/** What is known of a value before a plan is executed. Parts of it may be unknown. */
export type Value = null | boolean | number | string | readonly Value[] | Entries | Callable | Unknown;

export interface Entries {
  readonly [key: string]: Value;
}

export type Callable = Closure | Native;

/** A function of the plan with the names around it. */
export class Closure {
  readonly code: FunctionExpression;
  readonly scene: Scene;

  constructor(code: FunctionExpression, scene: Scene) {
    this.code = code;
    this.scene = scene;
  }
}

/** A function of the library, handed around as a value. */
export class Native {
  readonly builtin: Builtin;

  constructor(builtin: Builtin) {
    this.builtin = builtin;
  }
}

/** Something that only the execution will tell. */
export class Unknown {
  /** It comes from outside, or was computed from such things alone, so that no function is in it. */
  readonly isData: boolean;
  /** How many elements it has at most, if it is a list; null when nobody knows. */
  readonly most: number | null;

  constructor(isData: boolean, most: number | null = null) {
    this.isData = isData;
    this.most = most;
  }
}

export const DATA: Unknown = new Unknown(true);
export const ANYTHING: Unknown = new Unknown(false);

/** Counts what is looked at, because parts of values may be shared: a small value can be a large tree. */
export type Spend = (work: number) => void;

export function isCallable(value: Value): value is Callable {
  return value instanceof Closure || value instanceof Native;
}

export function isEntries(value: Value): value is Entries {
  return (
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    !(value instanceof Unknown) &&
    !isCallable(value)
  );
}

/** Only nil and false are false in a plan; null when nobody knows. */
export function truthOf(value: Value): boolean | null {
  return value instanceof Unknown ? null : value !== null && value !== false;
}

/** What can be gone through one by one; null when that is not known. */
export function listOf(value: Value): readonly Value[] | null {
  if (Array.isArray(value)) return value;
  if (value === null) return [];
  if (typeof value === "string") return [...value];
  return isEntries(value) ? Object.entries(value).map(([key, each]) => [key, each]) : null;
}

/** Values do not change, and parts of them are looked at again and again. */
const seen = new WeakMap<object, boolean>();

/** Whether no function is in it. */
export function isData(value: Value, spend: Spend): boolean {
  if (typeof value !== "object" || value === null) return true;
  spend(1);
  if (value instanceof Unknown) return value.isData;
  if (isCallable(value)) return false;
  const before = seen.get(value);
  if (before !== undefined) return before;
  const parts: readonly Value[] = Object.values(value);
  spend(parts.length >> 4);
  const found = parts.every((each) => typeof each !== "object" || each === null || isData(each, spend));
  seen.set(value, found);
  return found;
}

/** What comes of values in a way that is not known. */
export function unknownFrom(values: readonly Value[], spend: Spend, most: number | null = null): Unknown {
  const data = values.every((value) => isData(value, spend));
  return most === null ? (data ? DATA : ANYTHING) : new Unknown(data, most);
}

/** One of several values, and nobody knows which. */
export function joined(values: readonly Value[], spend: Spend): Value {
  const [first = null, ...rest] = values;
  return rest.reduce<Value>((one, other) => both(one, other, spend), first);
}

function both(one: Value, other: Value, spend: Spend): Value {
  spend(1);
  if (one === other) return one;
  if (Array.isArray(one) && Array.isArray(other) && one.length === other.length) {
    return one.map((each: Value, index) => both(each, other[index], spend));
  }
  if (isEntries(one) && isEntries(other)) {
    const keys = Object.keys(one);
    const same = keys.length === Object.keys(other).length && keys.every((key) => Object.hasOwn(other, key));
    if (same) return entriesOf(keys.map((key) => [key, both(one[key] as Value, other[key] as Value, spend)]));
  }
  const [a, b] = [mostOf(one), mostOf(other)];
  return unknownFrom([one, other], spend, a === null || b === null ? null : Math.max(a, b));
}

/** How many elements it has at most, if it is a list. */
function mostOf(value: Value): number | null {
  if (value instanceof Unknown) return value.most;
  return Array.isArray(value) ? value.length : null;
}

/** A map that has nothing but these, whatever they are called. */
export function entriesOf(pairs: Iterable<readonly [string, Value]>): Entries {
  const made: Record<string, Value> = Object.create(null);
  for (const [key, value] of pairs) made[key] = value;
  return made;
}

/** A value as others can read it, and whether all of it was known; `blank` stands for what was not. Null when a function is in it. */
export function readable(
  value: Value,
  blank: Json,
  spend: Spend,
): { readonly json: Json; readonly isWhole: boolean } | null {
  let isWhole = true;
  let isJson = true;
  const written = (each: Value): Json => {
    spend(1);
    if (each instanceof Unknown) {
      isWhole = false;
      return blank;
    }
    if (isCallable(each)) {
      isJson = false;
      return null;
    }
    if (typeof each === "string") spend(each.length >> 8);
    if (typeof each !== "object" || each === null) return each;
    if (Array.isArray(each)) return each.map(written);
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, written(inner)]));
  };
  const json = written(value);
  return isJson ? { json, isWhole } : null;
}
