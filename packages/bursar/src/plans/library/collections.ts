import type { Builtin } from "../syntax/builtin.js";

const kind = (name: string, id: string, condition: string): Builtin => ({
  name,
  id,
  least: 1,
  most: 1,
  isTest: true,
  code: `(at, value) => ${condition}`,
});

const part = (name: string, id: string, how: string): Builtin => ({
  name,
  id,
  least: 1,
  most: 1,
  code: `(at, list) => {
  const items = $list(at, "${name}", list);
  return ${how};
}`,
});

/** Takes a number and a list, in this order. */
const counted = (name: string, id: string, how: string): Builtin => ({
  name,
  id,
  least: 2,
  most: 2,
  code: `(at, count, list) => {
  if ($whole(at, "${name}", count) < 0) $fail(at, "${name} takes a count from 0 on, and got " + count);
  const items = $list(at, "${name}", list);
  return ${how};
}`,
});

const together = (name: string, id: string, how: string): Builtin => ({
  name,
  id,
  least: 2,
  most: 2,
  code: `(at, one, other) => {
  const [a, b] = [$list(at, "${name}", one), $list(at, "${name}", other)];
  return ${how};
}`,
});

/** What a value is. */
export const KINDS: readonly Builtin[] = [
  { name: "not", id: "not", least: 1, most: 1, isTest: true, code: "(at, value) => !$is(value)" },
  { name: "boolean", id: "boolean", least: 1, most: 1, isTest: true, code: "(at, value) => $is(value)" },
  { name: "identity", id: "identity", least: 1, most: 1, code: "(at, value) => value" },
  kind("nil?", "isNil", "value === null"),
  kind("some?", "isSome", "value !== null"),
  kind("true?", "isTrue", "value === true"),
  kind("false?", "isFalse", "value === false"),
  kind("boolean?", "isBoolean", 'typeof value === "boolean"'),
  kind("number?", "isNumber", 'typeof value === "number"'),
  kind("integer?", "isInteger", "Number.isSafeInteger(value)"),
  kind("string?", "isString", 'typeof value === "string"'),
  kind("vector?", "isVector", "Array.isArray(value)"),
  kind("map?", "isAMap", "$isMap(value)"),
  kind("fn?", "isFunction", 'typeof value === "function"'),
  kind("empty?", "isEmpty", '$list(at, "empty?", value).length === 0'),
];

/** Vectors, and whatever can be gone through like one. */
export const LISTS: readonly Builtin[] = [
  { name: "vector", id: "vector", least: 0, most: null, code: "(at, ...items) => items" },
  part("vec", "vec", "items.slice()"),
  part("set", "set", "$unique(items)"),
  part("count", "count", "items.length"),
  part("first", "first", "items.length > 0 ? items[0] : null"),
  part("second", "second", "items.length > 1 ? items[1] : null"),
  part("last", "last", "items.length > 0 ? items[items.length - 1] : null"),
  part("rest", "rest", "items.slice(1)"),
  part("reverse", "reverse", "items.slice().reverse()"),
  part("distinct", "distinct", "$unique(items)"),
  part("sort", "sort", "items.slice().sort((a, b) => $order(at, a, b))"),
  part("flatten", "flatten", "items.flat(60)"),
  counted("take", "take", "items.slice(0, count)"),
  counted("drop", "drop", "items.slice(count)"),
  counted("take-last", "takeLast", "items.slice(Math.max(0, items.length - count))"),
  counted("drop-last", "dropLast", "items.slice(0, Math.max(0, items.length - count))"),
  counted(
    "partition-all",
    "partitionAll",
    `count === 0 ? $fail(at, "partition-all needs a count from 1 on")
    : Array.from({ length: Math.ceil(items.length / count) }, (_, i) => items.slice(i * count, (i + 1) * count))`,
  ),
  together("union", "union", "$unique([...a, ...b])"),
  together("intersection", "intersection", "$unique(a.filter((item) => $has(b, item)))"),
  together("difference", "difference", "$unique(a.filter((item) => !$has(b, item)))"),
  {
    name: "nth",
    id: "nth",
    least: 2,
    most: 3,
    code: `(at, list, place, otherwise) => {
  const items = $list(at, "nth", list);
  if ($whole(at, "nth", place) >= 0 && place < items.length) return items[place];
  return otherwise === undefined ? $fail(at, "there are " + items.length + " elements, and no number " + place) : otherwise;
}`,
  },
  { name: "cons", id: "cons", least: 2, most: 2, code: '(at, item, list) => [item, ...$list(at, "cons", list)]' },
  {
    name: "conj",
    id: "conj",
    least: 1,
    most: null,
    code: "(at, into, ...items) => $into(at, into, items)",
  },
  {
    name: "into",
    id: "into",
    least: 2,
    most: 2,
    code: `(at, into, list) => {
  const items = $list(at, "into", list);
  if (!$isMap(into)) return [...$list(at, "into", into), ...items];
  const made = $copy(into);
  for (const item of items) {
    if ($isMap(item)) Object.assign(made, item);
    else if (Array.isArray(item) && item.length === 2) made[$key(at, item[0])] = $entry(at, item[0], item[1]);
    else $fail(at, "what is added to a map is a map or a [key value], and not " + $show(item));
  }
  return made;
}`,
  },
  {
    name: "concat",
    id: "concat",
    least: 0,
    most: null,
    code: '(at, ...lists) => lists.flatMap((list) => $list(at, "concat", list))',
  },
  {
    name: "range",
    id: "range",
    least: 1,
    most: 3,
    code: `(at, ...bounds) => {
  for (const bound of bounds) $number(at, "range", bound);
  const [start, end, step = 1] = bounds.length === 1 ? [0, bounds[0]] : bounds;
  if (step === 0) $fail(at, "range cannot go on in steps of 0");
  const count = Math.max(0, Math.ceil((end - start) / step));
  $room(at, "range", count);
  return Array.from({ length: count }, (_, i) => start + i * step);
}`,
  },
  {
    name: "repeat",
    id: "repeat",
    least: 2,
    most: 2,
    code: `(at, count, value) => {
  $room(at, "repeat", $whole(at, "repeat", count));
  return new Array(Math.max(0, count)).fill(value);
}`,
  },
  {
    name: "includes?",
    id: "includes",
    least: 2,
    most: 2,
    isTest: true,
    code: `(at, inside, part) =>
  typeof inside === "string" ? inside.includes($text(at, "includes?", part)) : $has($list(at, "includes?", inside), part)`,
  },
  {
    name: "index-of",
    id: "indexOf",
    least: 2,
    most: 2,
    code: `(at, inside, part) => {
  if (typeof inside === "string") {
    const place = inside.indexOf($text(at, "index-of", part));
    return place < 0 ? null : [...inside.slice(0, place)].length;
  }
  const place = $list(at, "index-of", inside).findIndex((item) => $equal(item, part));
  return place < 0 ? null : place;
}`,
  },
];

/** Maps. Their keys are texts, and keywords are texts. */
export const MAPS: readonly Builtin[] = [
  {
    name: "hash-map",
    id: "hashMap",
    least: 0,
    most: null,
    code: `(at, ...pairs) => {
  if (pairs.length % 2 !== 0) $fail(at, "hash-map takes keys and values in turn, and the last key has no value");
  return $record(at, pairs);
}`,
  },
  {
    name: "get",
    id: "get",
    least: 2,
    most: 3,
    code: "(at, from, key, otherwise = null) => $look(at, from, key, otherwise)",
  },
  {
    name: "get-in",
    id: "getIn",
    least: 2,
    most: 3,
    code: `(at, from, path, otherwise = null) => {
  let value = from;
  for (const key of $list(at, "get-in", path)) {
    const missing = {};
    const found = $look(at, value, key, missing);
    if (found === missing) return otherwise;
    value = found;
  }
  return value;
}`,
  },
  {
    name: "assoc",
    id: "assoc",
    least: 3,
    most: null,
    code: `(at, into, ...pairs) => {
  if (pairs.length % 2 !== 0) $fail(at, "assoc takes keys and values in turn, and the last key has no value");
  let made = into;
  for (let i = 0; i < pairs.length; i += 2) made = $put(at, made, pairs[i], pairs[i + 1]);
  return made;
}`,
  },
  {
    name: "assoc-in",
    id: "assocIn",
    least: 3,
    most: 3,
    code: '(at, into, path, value) => $putIn(at, into, $list(at, "assoc-in", path), value)',
  },
  {
    name: "dissoc",
    id: "dissoc",
    least: 1,
    most: null,
    code: `(at, from, ...keys) => {
  const made = $copy($map(at, "dissoc", from));
  for (const key of keys) delete made[$key(at, key)];
  return made;
}`,
  },
  {
    name: "select-keys",
    id: "selectKeys",
    least: 2,
    most: 2,
    code: `(at, from, keys) => {
  const map = $map(at, "select-keys", from);
  const found = $unique($list(at, "select-keys", keys)).filter((key) => Object.hasOwn(map, $key(at, key)));
  return $record(at, found.flatMap((key) => [key, map[key]]));
}`,
  },
  {
    name: "merge",
    id: "merge",
    least: 0,
    most: null,
    code: '(at, ...maps) => maps.reduce((made, map) => Object.assign(made, $map(at, "merge", map)), Object.create(null))',
  },
  { name: "keys", id: "keys", least: 1, most: 1, code: '(at, map) => Object.keys($map(at, "keys", map))' },
  { name: "vals", id: "vals", least: 1, most: 1, code: '(at, map) => Object.values($map(at, "vals", map))' },
  {
    name: "zipmap",
    id: "zipmap",
    least: 2,
    most: 2,
    code: `(at, keys, values) => {
  const [a, b] = [$list(at, "zipmap", keys), $list(at, "zipmap", values)];
  return $record(at, a.slice(0, b.length).flatMap((key, i) => [key, b[i]]));
}`,
  },
  {
    name: "frequencies",
    id: "frequencies",
    least: 1,
    most: 1,
    code: `(at, list) => {
  const made = Object.create(null);
  for (const item of $list(at, "frequencies", list)) made[$key(at, item)] = (made[item] ?? 0) + 1;
  return made;
}`,
  },
  {
    name: "contains?",
    id: "contains",
    least: 2,
    most: 2,
    isTest: true,
    code: `(at, inside, item) => {
  if (Array.isArray(inside)) return $has(inside, item);
  return Object.hasOwn($map(at, "contains?", inside), $key(at, item));
}`,
  },
];
