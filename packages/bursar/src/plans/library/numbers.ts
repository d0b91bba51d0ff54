import type { Builtin } from "../syntax/builtin.js";

const ordered = (name: string, id: string): Builtin => ({
  name,
  id,
  least: 1,
  most: null,
  isTest: true,
  code: `(at, ...values) => {
  for (let i = 0; i < values.length; i++) $number(at, "${name}", values[i]);
  for (let i = 1; i < values.length; i++) if (!(values[i - 1] ${name} values[i])) return false;
  return true;
}`,
});

const test = (name: string, id: string, condition: string, kind = "number"): Builtin => ({
  name,
  id,
  least: 1,
  most: 1,
  isTest: true,
  code: `(at, value) => $${kind}(at, "${name}", value) ${condition}`,
});

const division = (name: string, id: string, result: string): Builtin => ({
  name,
  id,
  least: 2,
  most: 2,
  code: `(at, above, below) => {
  const [a, b] = [$whole(at, "${name}", above), $divisor(at, $whole(at, "${name}", below))];
  return ${result} + 0;
}`,
});

const rounding = (name: string, id: string, how: string): Builtin => ({
  name,
  id,
  least: 1,
  most: 1,
  code: `(at, value) => ${how}($number(at, "${name}", value)) + 0`,
});

const extreme = (name: string, id: string): Builtin => ({
  name,
  id,
  least: 1,
  most: null,
  code: `(at, ...values) => values.reduce((a, b) => Math.${name}(a, $number(at, "${name}", b)), $number(at, "${name}", values[0]))`,
});

/** Arithmetic and comparison. Numbers are always finite, and whole ones exact. */
export const NUMBERS: readonly Builtin[] = [
  {
    name: "+",
    id: "add",
    least: 0,
    most: null,
    code: `(at, ...values) => {
  let sum = 0;
  for (let i = 0; i < values.length; i++) sum = $exact(at, sum, values[i], sum + $number(at, "+", values[i]));
  return sum;
}`,
  },
  {
    name: "*",
    id: "multiply",
    least: 0,
    most: null,
    code: `(at, ...values) => {
  let product = 1;
  for (let i = 0; i < values.length; i++) product = $exact(at, product, values[i], product * $number(at, "*", values[i]));
  return product;
}`,
  },
  {
    name: "-",
    id: "subtract",
    least: 1,
    most: null,
    code: `(at, ...values) => {
  let rest = $number(at, "-", values[0]);
  if (values.length === 1) return 0 - rest;
  for (let i = 1; i < values.length; i++) rest = $exact(at, rest, values[i], rest - $number(at, "-", values[i]));
  return rest;
}`,
  },
  {
    name: "/",
    id: "divide",
    least: 1,
    most: null,
    code: `(at, ...values) => {
  const all = values.length === 1 ? [1, ...values] : values;
  return all.reduce((a, b) => {
    const result = $number(at, "/", a) / $divisor(at, $number(at, "/", b));
    return Number.isFinite(result) ? result + 0 : $fail(at, "the result is too large for a number");
  });
}`,
  },
  division("quot", "quotient", "(a - (a % b)) / b"),
  division("rem", "remainder", "(a % b)"),
  division("mod", "modulo", "(a % b !== 0 && a < 0 !== b < 0 ? (a % b) + b : a % b)"),
  {
    name: "inc",
    id: "increment",
    least: 1,
    most: 1,
    code: '(at, value) => $exact(at, value, 1, $number(at, "inc", value) + 1)',
  },
  {
    name: "dec",
    id: "decrement",
    least: 1,
    most: 1,
    code: '(at, value) => $exact(at, value, 1, $number(at, "dec", value) - 1)',
  },
  rounding("abs", "absolute", "Math.abs"),
  rounding("round", "round", "Math.round"),
  rounding("floor", "floor", "Math.floor"),
  rounding("ceil", "ceiling", "Math.ceil"),
  extreme("min", "least"),
  extreme("max", "greatest"),
  ordered("<", "below"),
  ordered("<=", "atMost"),
  ordered(">", "above"),
  ordered(">=", "atLeast"),
  {
    name: "=",
    id: "same",
    least: 1,
    most: null,
    isTest: true,
    code: "(at, first, ...values) => values.every((value) => $equal(first, value))",
  },
  {
    name: "not=",
    id: "differ",
    least: 1,
    most: null,
    isTest: true,
    code: "(at, first, ...values) => !values.every((value) => $equal(first, value))",
  },
  { name: "compare", id: "compare", least: 2, most: 2, code: "(at, a, b) => $order(at, a, b)" },
  test("zero?", "isZero", "=== 0"),
  test("pos?", "isPositive", "> 0"),
  test("neg?", "isNegative", "< 0"),
  test("even?", "isEven", "% 2 === 0", "whole"),
  test("odd?", "isOdd", "% 2 !== 0", "whole"),
];
