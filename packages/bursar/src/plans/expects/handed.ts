import type { Position } from "../plan-error.js";
import { elementOf, LISTS, lookUp, MAPS, putInto } from "./collections.js";
import { FAILS, type Outcome } from "./outcome.js";
import { flattened } from "./turns.js";
import { Unforeseeable } from "./unforeseeable.js";
import {
  ANYTHING,
  Closure,
  entriesOf,
  isData,
  listOf,
  Native,
  truthOf,
  Unknown,
  unknownFrom,
  type Value,
} from "./value.js";
import type { Gone, Walk } from "./walk.js";

/** A function of the library that calls the one it is given. */
export type Handed = (walk: Walk, args: readonly Value[], at: Position) => Outcome;

/** What came of every element. */
function listFrom(walk: Walk, { values, most, some, fails }: Gone): Outcome {
  if (fails) return FAILS;
  return values ?? new Unknown(isData(some, walk.spend), most);
}

const mapping =
  (goesOn: boolean): Handed =>
  (walk, [call = null, ...lists], at) => {
    const [list = null, ...more] = lists;
    const manner = { goesOn };
    if (more.length === 0)
      return listFrom(
        walk,
        walk.each(list, at, (item) => walk.call(call, [item], at), manner),
      );
    const known = lists.map((each) => (each instanceof Unknown ? null : listOf(each)));
    const lengths = lists.map((each, index) => (each instanceof Unknown ? each.most : (known[index]?.length ?? null)));
    const most = lengths.reduce<number | null>((a, b) => (a === null || b === null ? (a ?? b) : Math.min(a, b)), null);
    if (known.includes(null)) {
      const some = lists.map((each) => unknownFrom([each], walk.spend));
      const unknown = new Unknown(true, most);
      return listFrom(
        walk,
        walk.each(unknown, at, () => walk.call(call, some, at)),
      );
    }
    const rows = Array.from({ length: most ?? 0 }, (_, index) => known.map((items) => items?.[index] ?? null));
    return listFrom(
      walk,
      walk.each(rows, at, (row, index) => {
        const args = index instanceof Unknown ? lists.map((each) => unknownFrom([each], walk.spend)) : row;
        return walk.call(call, args as readonly Value[], at);
      }),
    );
  };

/** Keeps some elements of a list, by what a function says of each. */
const choosing =
  (keeps: (truth: boolean) => boolean): Handed =>
  (walk, [call = null, list = null], at) => {
    const gone = walk.each(list, at, (item) => walk.call(call, [item], at));
    if (gone.fails) return FAILS;
    const items = list instanceof Unknown ? null : listOf(list);
    const truths = gone.values?.map(truthOf) ?? null;
    if (items === null || truths === null || truths.includes(null)) return unknownFrom([list], walk.spend, gone.most);
    return items.filter((_, index) => keeps(truths[index] === true));
  };

/** Takes or drops elements as long as a function says so. */
const beginning =
  (take: (items: readonly Value[], count: number) => readonly Value[]): Handed =>
  (walk, [call = null, list = null], at) => {
    const until = (value: Value) => truthOf(value) === false;
    const gone = walk.each(list, at, (item) => walk.call(call, [item], at), { until });
    if (gone.fails) return FAILS;
    const items = list instanceof Unknown ? null : listOf(list);
    const truths = gone.values?.map(truthOf) ?? null;
    if (items === null || truths === null || truths.includes(null)) {
      return unknownFrom([list], walk.spend, items?.length ?? gone.most);
    }
    return take(items, truths.filter((truth) => truth === true).length);
  };

const some: Handed = (walk, [call = null, list = null], at) => {
  const until = (value: Value) => truthOf(value) === true;
  const gone = walk.each(list, at, (item) => walk.call(call, [item], at), { until });
  if (gone.fails) return FAILS;
  const truths = gone.values?.map(truthOf) ?? [null];
  if (truths.includes(null)) return unknownFrom([gone.some], walk.spend);
  return truths.includes(true) ? (gone.values?.at(-1) ?? null) : null;
};

const every: Handed = (walk, [call = null, list = null], at) => {
  const until = (value: Value) => truthOf(value) === false;
  const gone = walk.each(list, at, (item) => walk.call(call, [item], at), { until });
  if (gone.fails) return FAILS;
  const truths = gone.values?.map(truthOf) ?? [null];
  if (truths.includes(null)) return new Unknown(true);
  return !truths.includes(false);
};

const keep: Handed = (walk, [call = null, list = null], at) => {
  const gone = walk.each(list, at, (item) => walk.call(call, [item], at));
  if (gone.fails) return FAILS;
  const isKnown = gone.values?.every((value) => !(value instanceof Unknown)) ?? false;
  if (!isKnown) return unknownFrom([gone.some], walk.spend, gone.most);
  return (gone.values ?? []).filter((value) => value !== null);
};

const groupBy: Handed = (walk, [call = null, list = null], at) => {
  const gone = walk.each(list, at, (item) => walk.call(call, [item], at));
  if (gone.fails) return FAILS;
  const keys = gone.values;
  if (keys === null || !keys.every((key) => typeof key === "string")) return unknownFrom([list], walk.spend);
  const items = listOf(list) ?? [];
  const groups = new Map<string, Value[]>();
  for (const [index, key] of (keys as readonly string[]).entries()) {
    const item = items[index] ?? null;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return entriesOf(groups);
};

/** The order depends on what is not known here, the number of elements does not. */
const sortBy: Handed = (walk, [call = null, list = null], at) => {
  const gone = walk.each(list, at, (item) => walk.call(call, [item], at));
  if (gone.fails) return FAILS;
  const element = unknownFrom([list], walk.spend);
  return gone.values === null ? unknownFrom([list], walk.spend, gone.most) : gone.values.map(() => element);
};

const reduce: Handed = (walk, [call = null, ...more], at) => {
  const list = more.at(-1) ?? null;
  const hasFirst = more.length === 2;
  const known = list instanceof Unknown ? null : listOf(list);
  if (!hasFirst && known?.length === 0) return FAILS;
  let result: Value = hasFirst ? (more[0] as Value) : known === null ? ANYTHING : (known[0] ?? null);
  const rest = hasFirst ? list : (LISTS.rest?.([list], walk.spend) ?? ANYTHING);
  const gone = walk.each(rest, at, (item, index) => {
    // An element that stands for all is met with whatever came of those before.
    const next = walk.call(call, [index instanceof Unknown ? ANYTHING : result, item], at);
    if (next !== FAILS) result = next as Value;
    return next;
  });
  if (gone.fails) return FAILS;
  return gone.values === null ? ANYTHING : result;
};

const applying: Handed = (walk, [call = null, ...more], at) => {
  const last = more.at(-1) ?? null;
  const first = more.slice(0, -1);
  const items = last instanceof Unknown ? null : listOf(last);
  if (items !== null) return walk.call(call, [...first, ...items], at);
  if (call instanceof Closure && call.code.rest === null) {
    const missing = Math.max(0, call.code.parameters.length - first.length);
    return walk.call(call, [...first, ...new Array<Value>(missing).fill(elementOf(last as Unknown))], at);
  }
  const computes = call instanceof Native && call.builtin.calls === undefined && call.builtin.waits !== true;
  if (computes || typeof call === "string") return unknownFrom([...first, last], walk.spend);
  throw new Unforeseeable(`what the function at ${at.line}:${at.column} is called with is not known`);
};

const update: Handed = (walk, [into = null, key = null, call = null, ...more], at) => {
  const found = lookUp(into, key, null);
  const before = found === undefined ? unknownFrom([into], walk.spend) : found;
  const after = walk.call(call, [before, ...more], at);
  if (after === FAILS) return FAILS;
  return putInto(into, key, after as Value, walk.spend) ?? unknownFrom([into, after as Value], walk.spend);
};

const updateIn: Handed = (walk, [into = null, path = null, call = null, ...more], at) => {
  const found = MAPS.getIn?.([into, path], walk.spend);
  const before = found === undefined ? unknownFrom([into], walk.spend) : found;
  const after = walk.call(call, [before, ...more], at);
  return after === FAILS ? FAILS : unknownFrom([into, after as Value], walk.spend);
};

/** All of them, by the names that the guest has for them. */
export const HANDED: Readonly<Record<string, Handed>> = {
  mapping: mapping(false),
  pmap: mapping(true),
  mapIndexed: (walk, [call = null, list = null], at) =>
    listFrom(
      walk,
      walk.each(list, at, (item, index) => walk.call(call, [index, item], at)),
    ),
  mapcat: (walk, [call = null, list = null], at) => {
    const gone = walk.each(list, at, (item) => walk.call(call, [item], at));
    return gone.fails ? FAILS : flattened(walk, gone);
  },
  filter: choosing((truth) => truth),
  remove: choosing((truth) => !truth),
  takeWhile: beginning((items, count) => items.slice(0, count)),
  dropWhile: beginning((items, count) => items.slice(count)),
  keep,
  some,
  every,
  groupBy,
  sortBy,
  reduce,
  applying,
  update,
  updateIn,
};
