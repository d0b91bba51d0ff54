import type { Builtin } from "../syntax/builtin.js";

/** Goes through a list with a function, in this order of arguments. */
const through = (name: string, id: string, first: string, each: string, result: string): Builtin => ({
  name,
  id,
  least: 2,
  most: 2,
  calls: 0,
  code: `function* (at, value, list) {
  const call = $callable(at, "${name}", value, 1);
  ${first}
  const items = $list(at, "${name}", list);
  for (let i = 0; i < items.length; i++) {
    const item = items[i];
    const given = yield call(item);
    ${each}
  }
  return ${result};
}`,
});

const LIST = "const found = [];";

/** Functions that call the function they are given: for one element after the other, in order. */
export const FUNCTIONS: readonly Builtin[] = [
  {
    name: "map",
    id: "mapping",
    least: 2,
    most: null,
    calls: 0,
    code: `function* (at, value, ...lists) {
  const all = lists.map((list) => $list(at, "map", list));
  const call = $callable(at, "map", value, all.length);
  const [first] = all;
  const found = [];
  if (all.length === 1) {
    for (let i = 0; i < first.length; i++) found.push(yield call(first[i]));
    return found;
  }
  const size = Math.min(...all.map((list) => list.length));
  for (let i = 0; i < size; i++) found.push(yield call(...all.map((list) => list[i])));
  return found;
}`,
  },
  {
    name: "map-indexed",
    id: "mapIndexed",
    least: 2,
    most: 2,
    calls: 0,
    code: `function* (at, value, list) {
  const call = $callable(at, "map-indexed", value, 2);
  const found = [];
  for (const [i, item] of $list(at, "map-indexed", list).entries()) found.push(yield call(i, item));
  return found;
}`,
  },
  through("mapcat", "mapcat", LIST, 'for (const part of $list(at, "mapcat", given)) found.push(part);', "found"),
  through("keep", "keep", LIST, "if (given !== null) found.push(given);", "found"),
  through("filter", "filter", LIST, "if ($is(given)) found.push(item);", "found"),
  through("remove", "remove", LIST, "if (!$is(given)) found.push(item);", "found"),
  through("take-while", "takeWhile", LIST, "if (!$is(given)) break;\n    found.push(item);", "found"),
  {
    name: "drop-while",
    id: "dropWhile",
    least: 2,
    most: 2,
    calls: 0,
    code: `function* (at, value, list) {
  const call = $callable(at, "drop-while", value, 1);
  const items = $list(at, "drop-while", list);
  let start = 0;
  while (start < items.length && $is(yield call(items[start]))) start++;
  return items.slice(start);
}`,
  },
  through("some", "some", "", "if ($is(given)) return given;", "null"),
  through("every?", "every", "", "if (!$is(given)) return false;", "true"),
  through(
    "group-by",
    "groupBy",
    "const found = Object.create(null);",
    "(found[$key(at, given)] ??= []).push(item);",
    "found",
  ),
  through(
    "sort-by",
    "sortBy",
    LIST,
    "found.push([given, item]);",
    "found.sort((a, b) => $order(at, a[0], b[0])).map((pair) => pair[1])",
  ),
  {
    name: "reduce",
    id: "reduce",
    least: 2,
    most: 3,
    calls: 0,
    code: `function* (at, value, ...more) {
  const items = $list(at, "reduce", more[more.length - 1]);
  const call = $callable(at, "reduce", value, 2);
  const hasFirst = more.length === 2;
  if (!hasFirst && items.length === 0) $fail(at, "reduce of nothing needs a first value");
  let result = hasFirst ? more[0] : items[0];
  for (let i = hasFirst ? 0 : 1; i < items.length; i++) result = yield call(result, items[i]);
  return result;
}`,
  },
  {
    name: "apply",
    id: "applying",
    least: 2,
    most: null,
    calls: 0,
    code: `function* (at, value, ...more) {
  const items = [...more.slice(0, -1), ...$list(at, "apply", more[more.length - 1])];
  if (items.length > 1000) $fail(at, "apply hands over at most 1000 arguments, and not " + items.length + "; see reduce");
  return yield $callable(at, "apply", value, items.length)(...items);
}`,
  },
  {
    name: "update",
    id: "update",
    least: 3,
    most: null,
    calls: 2,
    code: `function* (at, into, key, value, ...more) {
  const call = $callable(at, "update", value, 1 + more.length);
  return $put(at, into, key, yield call($look(at, into, key, null), ...more));
}`,
  },
  {
    name: "update-in",
    id: "updateIn",
    least: 3,
    most: null,
    calls: 2,
    code: `function* (at, into, path, value, ...more) {
  const call = $callable(at, "update-in", value, 1 + more.length);
  const keys = $list(at, "update-in", path);
  const before = keys.reduce((from, key) => $look(at, from, key, null), into);
  return $putIn(at, into, keys, yield call(before, ...more));
}`,
  },
  {
    name: "pmap",
    id: "pmap",
    least: 2,
    most: 2,
    waits: true,
    code: `async (at, value, list) => {
  const call = $callable(at, "pmap", value, 1);
  const items = $list(at, "pmap", list);
  const found = new Array(items.length).fill(null);
  const failures = [];
  let next = 0;
  const work = async () => {
    while (next < items.length && failures.length === 0) {
      const place = next++;
      try {
        found[place] = await call(items[place]);
      } catch (error) {
        failures.push({ place, error });
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(64, items.length) }, work));
  // Elements begin in order, so the first one that fails is always among these, whichever was quicker.
  if (failures.length > 0) throw failures.sort((a, b) => a.place - b.place)[0].error;
  return found;
}`,
  },
  {
    name: "throw",
    id: "throwing",
    least: 1,
    most: 1,
    code: "(at, value) => $raise(at, value)",
  },
];
