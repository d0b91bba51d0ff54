import type { Builtin } from "../syntax/builtin.js";

/** What names in a pattern are taken from. Plans do not see these by name. */
export const AS_LIST: Builtin = {
  name: "[…]",
  id: "asList",
  least: 1,
  most: 1,
  code: '(at, value) => $list(at, "a pattern in [ ]", value)',
};

export const AS_MAP: Builtin = {
  name: "{…}",
  id: "asMap",
  least: 1,
  most: 1,
  code: '(at, value) => $map(at, "a pattern in { }", value)',
};

/** An input that a plan cannot do without. */
export const REQUIRED: Builtin = {
  name: ":inputs",
  id: "required",
  least: 2,
  most: 2,
  code: `(at, input, key) => {
  const map = $map(at, ":inputs", input);
  return Object.hasOwn(map, key) ? map[key] : $fail(at, "the input has no " + key);
}`,
};

export const PATTERNS: readonly Builtin[] = [AS_LIST, AS_MAP, REQUIRED];
