import { expect, test } from "vitest";
import { UsageError, unknown } from "../src/app/errors.js";
import { readFlags } from "../src/arguments/parse-arguments.js";

const FLAGS = { fast: { type: "boolean" }, seed: { type: "string" } } as const;

test("flags are read by name", () => {
  expect({ ...readFlags(["--fast", "--seed", "7"], FLAGS) }).toEqual({ fast: true, seed: "7" });
  expect({ ...readFlags(["--seed=7"], FLAGS) }).toEqual({ seed: "7" });
  expect({ ...readFlags([], FLAGS) }).toEqual({});
  expect({ ...readFlags(["--fast", "--fast", "--seed=7", "--seed", "7"], FLAGS) }).toEqual({ fast: true, seed: "7" });
  const MANY = { seed: { type: "string", multiple: true } } as const;
  expect({ ...readFlags(["--seed", "7", "--seed", "8"], MANY) }).toEqual({ seed: ["7", "8"] });
});

test.each([
  [["--fats"], "the flag --fats is not known; did you mean --fast?"],
  [["--something-else"], "the flag --something-else is not known; known: --fast, --seed"],
  [["--toString"], "the flag --toString is not known; known: --fast, --seed"],
  [["-x"], "the flag -x is not known; known: --fast, --seed"],
  [["--fast=1"], "--fast takes no value"],
  [["--seed"], "--seed needs a value"],
  [["--seed", "--fast"], "--seed needs a value, and --fast is a flag; or write --seed=--fast"],
  [["--seed", "7", "--fast", "--seed=8"], "--seed is given twice; give it once"],
  [["--seed", "a=7", "--seed", "b=8"], "--seed is given twice; give it once, with commas between"],
  [["more"], '"more" is not expected here'],
])("%j is refused with a reason", (args, message) => {
  expect(() => readFlags(args, FLAGS)).toThrow(new UsageError(message));
});

test("an unknown word is answered with the nearest known one", () => {
  expect(unknown("the command dmeo", "dmeo", ["demo"])).toBe("the command dmeo is not known; did you mean demo?");
});
