import type { Builtin } from "../syntax/builtin.js";

const change = (name: string, id: string, how: string): Builtin => ({
  name,
  id,
  least: 1,
  most: 1,
  code: `(at, text) => $text(at, "${name}", text).${how}`,
});

const test = (name: string, id: string, how: string): Builtin => ({
  name,
  id,
  least: 2,
  most: 2,
  isTest: true,
  code: `(at, text, part) => $text(at, "${name}", text).${how}($text(at, "${name}", part))`,
});

/** Texts. They are counted and cut by characters, never in the middle of one. */
export const TEXTS: readonly Builtin[] = [
  {
    name: "str",
    id: "str",
    least: 0,
    most: null,
    code: '(at, ...values) => values.map((value) => $plain(at, value)).join("")',
  },
  {
    name: "join",
    id: "join",
    least: 1,
    most: 2,
    code: `(at, ...items) => {
  const between = items.length === 2 ? $text(at, "join", items[0]) : "";
  return $list(at, "join", items[items.length - 1]).map((value) => $plain(at, value)).join(between);
}`,
  },
  {
    name: "split",
    id: "split",
    least: 2,
    most: 2,
    code: `(at, text, between) => {
  const [whole, mark] = [$text(at, "split", text), $text(at, "split", between)];
  return mark === "" ? [...whole] : whole.split(mark);
}`,
  },
  {
    name: "split-lines",
    id: "splitLines",
    least: 1,
    most: 1,
    code: String.raw`(at, text) => $text(at, "split-lines", text).replace(/\r?\n$/, "").split(/\r?\n/)`,
  },
  change("trim", "trim", "trim()"),
  change("upper-case", "upperCase", "toUpperCase()"),
  change("lower-case", "lowerCase", "toLowerCase()"),
  {
    name: "capitalize",
    id: "capitalize",
    least: 1,
    most: 1,
    code: `(at, text) => {
  const [first = "", ...rest] = $text(at, "capitalize", text);
  return first.toUpperCase() + rest.join("").toLowerCase();
}`,
  },
  {
    name: "replace",
    id: "replace",
    least: 3,
    most: 3,
    code: `(at, text, from, to) => {
  if ($text(at, "replace", from) === "") $fail(at, "replace cannot look for an empty text");
  return $text(at, "replace", text).split(from).join($text(at, "replace", to));
}`,
  },
  test("starts-with?", "startsWith", "startsWith"),
  test("ends-with?", "endsWith", "endsWith"),
  {
    name: "blank?",
    id: "isBlank",
    least: 1,
    most: 1,
    isTest: true,
    code: '(at, text) => text === null || $text(at, "blank?", text).trim() === ""',
  },
  {
    name: "subs",
    id: "subs",
    least: 2,
    most: 3,
    code: `(at, text, start, end) => {
  const all = [...$text(at, "subs", text)];
  const stop = end === undefined ? all.length : $whole(at, "subs", end);
  if ($whole(at, "subs", start) < 0 || start > stop || stop > all.length) {
    $fail(at, "the text has " + all.length + " characters, none from " + start + " to " + stop);
  }
  return all.slice(start, stop).join("");
}`,
  },
  change("name", "name", "toString()"),
  {
    name: "parse-number",
    id: "parseNumber",
    least: 1,
    most: 1,
    code: String.raw`(at, text) => {
  const trimmed = $text(at, "parse-number", text).trim();
  const value = /^[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(trimmed) ? Number(trimmed) : NaN;
  const isExact = /[.eE]/.test(trimmed) || Number.isSafeInteger(value);
  return Number.isFinite(value) && isExact ? value + 0 : null;
}`,
  },
  {
    name: "fixed",
    id: "fixed",
    least: 2,
    most: 2,
    code: `(at, value, places) => {
  if ($whole(at, "fixed", places) < 0 || places > 20) $fail(at, "fixed takes 0 to 20 places, and got " + places);
  return $number(at, "fixed", value).toFixed(places);
}`,
  },
  { name: "to-json", id: "toJson", least: 1, most: 1, code: "(at, value) => JSON.stringify($data(at, value))" },
  {
    name: "parse-json",
    id: "parseJson",
    least: 1,
    most: 1,
    code: `(at, text) => {
  let value;
  try {
    value = JSON.parse($text(at, "parse-json", text));
  } catch (error) {
    throw error instanceof $Failure ? error : new $Failure(at, "this text is not JSON: " + $show(text), { code: "invalid_json" });
  }
  return $data(at, value);
}`,
  },
  {
    name: "println",
    id: "println",
    least: 0,
    most: null,
    code: `(at, ...values) => {
  console.log(values.map((value) => $plain(at, value)).join(" "));
  return null;
}`,
  },
];
