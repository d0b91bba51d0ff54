import { sameness } from "./numbers.js";
import { MOST_ELEMENTS, type Pure } from "./pure.js";
import {
  ANYTHING,
  DATA,
  type Entries,
  entriesOf,
  isEntries,
  listOf,
  type Spend,
  Unknown,
  unknownFrom,
  type Value,
} from "./value.js";

/** A list that a plan itself cannot make any longer. */
const MOST_IN_PLAN = 1_000_000;

/** One of the elements of something that is not known. */
export function elementOf({ isData }: Unknown): Unknown {
  return isData ? DATA : ANYTHING;
}

function shorter(list: Unknown, most: number): Unknown {
  return new Unknown(list.isData, Math.min(most, list.most ?? Number.POSITIVE_INFINITY));
}

/** Takes a list apart; `otherwise` is for one of which only the length is known, if that. */
const ofList =
  (known: (items: readonly Value[]) => Value | undefined, otherwise: (list: Unknown) => Value | undefined): Pure =>
  ([list = null], spend) => {
    if (list instanceof Unknown) return otherwise(list);
    const items = listOf(list);
    if (items === null) return undefined;
    spend(items.length >> 4);
    return known(items);
  };

const sameLength = (list: Unknown) => list;

/** Takes a number and a list, in this order. */
const counted =
  (
    known: (items: readonly Value[], count: number) => Value | undefined,
    otherwise: (list: Unknown, count: number) => Value | undefined,
  ): Pure =>
  ([count = null, list = null], spend) => {
    if (typeof count !== "number" || !Number.isSafeInteger(count) || count < 0) return undefined;
    return ofList(
      (items) => known(items, count),
      (unknown) => otherwise(unknown, count),
    )([list], spend);
  };

const fewer = (list: Unknown, count: number) =>
  list.most === null ? list : new Unknown(list.isData, Math.max(0, list.most - count));

/** Lists one behind the other. */
function chained(lists: readonly Value[], spend: Spend): Value | undefined {
  const parts = lists.map((list) => (list instanceof Unknown ? list : listOf(list)));
  if (parts.includes(null)) return undefined;
  const known = parts as readonly (Unknown | readonly Value[])[];
  const size = known.reduce<number | null>((sum, part) => {
    const most = part instanceof Unknown ? part.most : part.length;
    return sum === null || most === null ? null : sum + most;
  }, 0);
  spend((size ?? 0) >> 4);
  if (size === null || size > MOST_ELEMENTS) return unknownFrom(lists, spend, size);
  if (known.some((part) => part instanceof Unknown)) return unknownFrom(lists, spend, size);
  return (known as readonly (readonly Value[])[]).flat(1);
}

/** Elements without those that are there already; undefined when it is not known which are. */
function distinct(items: readonly Value[], spend: Spend): readonly Value[] | undefined {
  const found: Value[] = [];
  for (const item of items) {
    const same = found.map((each) => sameness(each, item, spend));
    if (same.includes(true)) continue;
    if (same.includes(null)) return undefined;
    found.push(item);
  }
  return found;
}

const unique: Pure = ([list = null], spend) => {
  if (list instanceof Unknown) return list;
  const items = listOf(list);
  if (items === null) return undefined;
  return distinct(items, spend) ?? unknownFrom([list], spend, items.length);
};

/** Looks something up; undefined where it is not known, or fails. */
export function lookUp(from: Value, key: Value, otherwise: Value): Value | undefined {
  if (from === null) return otherwise;
  if (from instanceof Unknown) return undefined;
  if (isEntries(from)) {
    if (typeof key !== "string") return undefined;
    return Object.hasOwn(from, key) ? from[key] : otherwise;
  }
  const items = Array.isArray(from) || typeof from === "string" ? listOf(from) : null;
  if (items === null || !Number.isSafeInteger(key)) return undefined;
  const place = key as number;
  return place >= 0 && place < items.length ? (items[place] as Value) : otherwise;
}

/** Puts something into a map or a vector. */
export function putInto(into: Value, key: Value, value: Value, spend: Spend): Value | undefined {
  if (into === null || isEntries(into)) {
    if (typeof key !== "string") return undefined;
    const entries = Object.entries(into ?? {});
    spend(entries.length >> 4);
    return entriesOf([...entries, [key, value]]);
  }
  if (!Array.isArray(into) || !Number.isSafeInteger(key)) return undefined;
  const place = key as number;
  if (place < 0 || place > into.length) return undefined;
  spend(into.length >> 4);
  return [...into.slice(0, place), value, ...into.slice(place + 1)];
}

function record(args: readonly Value[]): Entries | undefined {
  const pairs: (readonly [string, Value])[] = [];
  for (let index = 0; index < args.length; index += 2) {
    const [key, value] = args.slice(index, index + 2);
    if (typeof key !== "string" || value === undefined || pairs.some(([known]) => known === key)) return undefined;
    pairs.push([key, value]);
  }
  return entriesOf(pairs);
}

function range(args: readonly Value[]): Value | undefined {
  if (!args.every((bound) => typeof bound === "number")) return undefined;
  const bounds = args as readonly number[];
  const [start = 0, end = 0, step = 1] = bounds.length === 1 ? [0, ...bounds] : bounds;
  const count = Math.max(0, Math.ceil((end - start) / step));
  if (step === 0 || !(count <= MOST_IN_PLAN)) return undefined;
  if (count > MOST_ELEMENTS) return new Unknown(true, count);
  return Array.from({ length: count }, (_, index) => start + index * step);
}

function merged(maps: readonly Value[], spend: Spend): Entries | undefined {
  const known = maps.filter((map) => map !== null);
  if (!known.every(isEntries)) return undefined;
  const entries = known.flatMap((map) => Object.entries(map));
  spend(entries.length >> 4);
  return entriesOf(entries);
}

const ofMap =
  (compute: (entries: readonly (readonly [string, Value])[]) => Value): Pure =>
  ([map = null], spend) => {
    if (map !== null && !isEntries(map)) return undefined;
    const entries = Object.entries(map ?? {});
    spend(entries.length >> 4);
    return compute(entries);
  };

/** Vectors and whatever can be gone through like one, by the names that the guest has for what is done with them. */
export const LISTS: Readonly<Record<string, Pure>> = {
  vector: (args) => args,
  vec: ofList((items) => items, sameLength),
  asList: ofList((items) => items, sameLength),
  set: unique,
  distinct: unique,
  count: ofList(
    (items) => items.length,
    ({ most }) => (most === 0 ? 0 : DATA),
  ),
  isEmpty: ofList(
    (items) => items.length === 0,
    ({ most }) => (most === 0 ? true : undefined),
  ),
  first: ofList((items) => items[0] ?? null, elementOf),
  second: ofList((items) => items[1] ?? null, elementOf),
  last: ofList((items) => items.at(-1) ?? null, elementOf),
  rest: ofList(
    (items) => items.slice(1),
    (list) => fewer(list, 1),
  ),
  reverse: ofList((items) => items.toReversed(), sameLength),
  sort: ofList(
    (items) =>
      items.every((item) => typeof item === "number") ? items.toSorted((a, b) => Number(a) - Number(b)) : undefined,
    sameLength,
  ),
  take: counted((items, count) => items.slice(0, count), shorter),
  takeLast: counted((items, count) => items.slice(Math.max(0, items.length - count)), shorter),
  drop: counted((items, count) => items.slice(count), fewer),
  dropLast: counted((items, count) => items.slice(0, Math.max(0, items.length - count)), fewer),
  partitionAll: counted(
    (items, count) =>
      count === 0
        ? undefined
        : Array.from({ length: Math.ceil(items.length / count) }, (_, at) => items.slice(at * count, (at + 1) * count)),
    (list, count) => {
      if (count === 0 || list.most === null) return undefined;
      return new Unknown(list.isData, Math.ceil(list.most / count));
    },
  ),
  nth: ([list = null, place = null, otherwise]) => {
    const items = list instanceof Unknown ? null : listOf(list);
    if (items === null || !Number.isSafeInteger(place)) return undefined;
    const at = place as number;
    return at >= 0 && at < items.length ? items[at] : otherwise;
  },
  cons: ([item = null, list = null], spend) => chained([[item], list], spend),
  conj: ([into = null, ...items], spend) => (isEntries(into) ? undefined : chained([into, items], spend)),
  into: ([into = null, list = null], spend) => (isEntries(into) ? undefined : chained([into, list], spend)),
  concat: chained,
  range: (args, spend) => {
    const list = range(args);
    if (Array.isArray(list)) spend(list.length >> 4);
    return list;
  },
  repeat: ([count = null, value = null], spend) => {
    if (!Number.isSafeInteger(count) || (count as number) > MOST_IN_PLAN) return undefined;
    if ((count as number) > MOST_ELEMENTS) return unknownFrom([value], spend, count as number);
    spend(Math.max(0, count as number) >> 4);
    return new Array<Value>(Math.max(0, count as number)).fill(value);
  },
};

/** Maps, likewise. */
export const MAPS: Readonly<Record<string, Pure>> = {
  asMap: ([map = null]) => (map === null ? entriesOf([]) : isEntries(map) || map instanceof Unknown ? map : undefined),
  hashMap: record,
  get: ([from = null, key = null, otherwise = null]) => lookUp(from, key, otherwise),
  getIn: ([from = null, path = null, otherwise = null]) => {
    const keys = path instanceof Unknown ? null : listOf(path);
    if (keys === null) return undefined;
    let value: Value = from;
    for (const key of keys) {
      const found = lookUp(value, key, MISSING);
      if (found === undefined || found === MISSING) return found === MISSING ? otherwise : undefined;
      value = found;
    }
    return value;
  },
  assoc: ([into = null, ...pairs], spend) => {
    let made: Value | undefined = into;
    for (let index = 0; index + 1 < pairs.length && made !== undefined; index += 2) {
      made = putInto(made, pairs[index] as Value, pairs[index + 1] as Value, spend);
    }
    return pairs.length % 2 === 0 ? made : undefined;
  },
  dissoc: ([map = null, ...keys], spend) =>
    keys.every((key) => typeof key === "string")
      ? ofMap((entries) => entriesOf(entries.filter(([key]) => !keys.includes(key))))([map], spend)
      : undefined,
  selectKeys: ([map = null, keys = null], spend) => {
    const wanted = keys instanceof Unknown ? null : listOf(keys);
    if (wanted === null || (map !== null && !isEntries(map))) return undefined;
    if (!wanted.every((key) => typeof key === "string")) return undefined;
    spend(wanted.length >> 4);
    const found = [...new Set(wanted as readonly string[])].filter((key) => Object.hasOwn(map ?? {}, key));
    return entriesOf(found.map((key) => [key, (map as Entries)[key] as Value]));
  },
  merge: merged,
  keys: ofMap((entries) => entries.map(([key]) => key)),
  vals: ofMap((entries) => entries.map(([, value]) => value)),
  contains: ([inside = null, item = null], spend) => {
    if (Array.isArray(inside)) {
      const same = inside.map((each: Value) => sameness(each, item, spend));
      return same.includes(true) ? true : same.includes(null) ? undefined : false;
    }
    if (typeof item !== "string" || (inside !== null && !isEntries(inside))) return undefined;
    return Object.hasOwn(inside ?? {}, item);
  },
};

/** Stands for what is not there, which a plan cannot. */
const MISSING: Unknown = new Unknown(true, 0);
