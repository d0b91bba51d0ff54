/** What the library itself is made of, by the names it uses for it: JavaScript for the guest. */
export const SUPPORT: Readonly<Record<string, string>> = {
  Failure: `class extends Error {
  constructor(at, problem, more) {
    super(problem);
    this.at = at;
    this.more = more;
  }
}`,
  fail: `(at, problem) => {
  throw new $Failure(at, problem, {});
}`,
  is: "(value) => value !== null && value !== false",
  isMap: '(value) => typeof value === "object" && value !== null && !Array.isArray(value)',
  show: `(value) => {
  if (value === null) return "nil";
  if (typeof value === "function") return "a function";
  if (Array.isArray(value)) return "a vector";
  if (typeof value === "object") return "a map";
  if (typeof value !== "string") return String(value);
  return JSON.stringify(value.length > 40 ? value.slice(0, 40) + "…" : value);
}`,
  number: `(at, what, value) =>
  typeof value === "number" ? value : $fail(at, what + " takes numbers, and got " + $show(value))`,
  whole: `(at, what, value) =>
  Number.isSafeInteger(value) ? value : $fail(at, what + " takes whole numbers, and got " + $show(value))`,
  text: `(at, what, value) =>
  typeof value === "string" ? value : $fail(at, what + " takes texts, and got " + $show(value))`,
  key: `(at, value) =>
  typeof value === "string" ? value : $fail(at, "the keys of a map are texts and keywords, and this one is " + $show(value))`,
  map: `(at, what, value) =>
  value === null ? Object.create(null) : $isMap(value) ? value : $fail(at, what + " takes a map, and got " + $show(value))`,
  list: `(at, what, value) => {
  if (Array.isArray(value)) return value;
  if (value === null) return [];
  if (typeof value === "string") return [...value];
  if ($isMap(value)) return Object.entries(value);
  return $fail(at, what + " goes through vectors, maps and texts, and got " + $show(value));
}`,
  copy: "(map) => Object.assign(Object.create(null), map)",
  // Whoever waits for such a map would call the function, because a promise looks like that.
  entry: `(at, key, value) =>
  key === "then" && typeof value === "function" ? $fail(at, "a function cannot be kept under the key then") : value`,
  record: `(at, pairs) => {
  const made = Object.create(null);
  for (let i = 0; i < pairs.length; i += 2) {
    const key = $key(at, pairs[i]);
    if (Object.hasOwn(made, key)) $fail(at, "the key " + $show(key) + " is given twice");
    made[key] = $entry(at, key, pairs[i + 1]);
  }
  return made;
}`,
  room: `(at, what, count) => {
  if (count > 1000000) $fail(at, what + " would give " + count + " elements; at most 1000000 are allowed");
}`,
  equal: `(a, b) => {
  if (a === b) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) !== Array.isArray(b)) return false;
  if (Array.isArray(a)) return a.length === b.length && a.every((item, i) => $equal(item, b[i]));
  const keys = Object.keys(a);
  if (keys.length !== Object.keys(b).length) return false;
  return keys.every((key) => Object.hasOwn(b, key) && $equal(a[key], b[key]));
}`,
  has: `(list, value) =>
  typeof value === "object" && value !== null ? list.some((item) => $equal(item, value)) : list.includes(value)`,
  unique: `(list) => {
  const seen = new Set();
  const large = [];
  return list.filter((item) => {
    const isLarge = typeof item === "object" && item !== null;
    if (isLarge ? $has(large, item) : seen.has(item)) return false;
    if (isLarge) large.push(item);
    else seen.add(item);
    return true;
  });
}`,
  asSet: `(at, items) =>
  $unique(items).length === items.length ? items : $fail(at, "the set holds an element twice; see distinct")`,
  order: `(at, a, b) => {
  if (typeof a === typeof b && (typeof a === "number" || typeof a === "string" || typeof a === "boolean")) {
    return a < b ? -1 : a > b ? 1 : 0;
  }
  if (!Array.isArray(a) || !Array.isArray(b)) $fail(at, $show(a) + " and " + $show(b) + " have no order");
  for (let i = 0; i < a.length && i < b.length; i++) {
    const order = $order(at, a[i], b[i]);
    if (order !== 0) return order;
  }
  return Math.sign(a.length - b.length);
}`,
  exact: `(at, a, b, result) => {
  if (Number.isSafeInteger(result)) return result + 0;
  if (Number.isSafeInteger(a) && Number.isSafeInteger(b)) {
    $fail(at, "the result is too large to be exact; whole numbers go up to 9007199254740991");
  }
  return Number.isFinite(result) ? result : $fail(at, "the result is too large for a number");
}`,
  divisor: '(at, value) => (value === 0 ? $fail(at, "division by zero") : value)',
  look: `(at, from, key, otherwise) => {
  if (from === null) return otherwise;
  if ($isMap(from)) return Object.hasOwn(from, $key(at, key)) ? from[key] : otherwise;
  if (!Array.isArray(from) && typeof from !== "string") $fail(at, "nothing can be looked up in " + $show(from));
  if (!Number.isSafeInteger(key)) $fail(at, $show(from) + " is looked into by number, and not by " + $show(key));
  const list = typeof from === "string" ? [...from] : from;
  return key >= 0 && key < list.length ? list[key] : otherwise;
}`,
  put: `(at, into, key, value) => {
  if (!Array.isArray(into)) {
    const made = $copy($map(at, "assoc", into));
    made[$key(at, key)] = $entry(at, key, value);
    return made;
  }
  if ($whole(at, "assoc", key) < 0 || key > into.length) $fail(at, "the vector has no place " + key);
  const made = into.slice();
  made[key] = value;
  return made;
}`,
  putIn: `(at, into, path, value) => {
  if (path.length === 0) $fail(at, "the path is empty");
  const [key, ...rest] = path;
  return $put(at, into, key, rest.length === 0 ? value : $putIn(at, $look(at, into, key, null), rest, value));
}`,
  fn: "(least, most, code) => Object.assign(code, { least, most })",
  callable: `(at, what, value, count) => {
  if (typeof value === "function") {
    if (count >= value.least && count <= value.most) return value;
    const takes = value.most === Infinity ? value.least + " or more" : value.least;
    const range = value.most === Infinity || value.most === value.least ? takes : takes + " to " + value.most;
    return $fail(at, "the function takes " + range + " arguments, and " + what + " gives it " + count);
  }
  if (typeof value === "string" && (count === 1 || count === 2)) {
    return (from, otherwise = null) => $look(at, from, value, otherwise);
  }
  return $fail(at, what + " needs a function, and got " + $show(value));
}`,
  now: `(make) => (...items) => {
  const work = make(...items);
  let turn = work.next();
  while (!turn.done) turn = work.next(turn.value);
  return turn.value;
}`,
  later: `(make) => async (...items) => {
  const work = make(...items);
  let turn = work.next();
  while (!turn.done) turn = work.next(await turn.value);
  return turn.value;
}`,
  data: `(at, value, depth = 0) => {
  if (typeof value === "function") $fail(at, "a function cannot leave the plan");
  if (typeof value === "number" && !Number.isFinite(value)) $fail(at, "a number is too large");
  if (typeof value !== "object" || value === null) return value;
  if (depth > 60) $fail(at, "the value is nested more than 60 deep");
  for (const key of Object.keys(value)) {
    if (key === "__proto__") $fail(at, "a key cannot be called __proto__");
    $data(at, value[key], depth + 1);
  }
  return value;
}`,
  plain: `(at, value) => {
  if (typeof value === "string") return value;
  if (value === null) return "";
  return typeof value === "object" ? JSON.stringify($data(at, value)) : String($data(at, value));
}`,
};
