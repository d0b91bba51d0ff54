import { describe, expect, test } from "vitest";
import { amountProblem, extensionsOf, limitsOf, typedFrom } from "../src/panels/amounts.js";

test("what is suggested stands in the fields as one would type it", () => {
  expect(typedFrom({ cost_usd: 0.000_000_5, llm_tokens: 50_000, note: "no amount" })).toEqual({
    cost_usd: "0.0000005",
    llm_tokens: "50000",
  });
});

describe("a typed amount is refused when it is", () => {
  test.for([
    ["no number", "cost_usd", "much"],
    ["in another notation", "cost_usd", "1e3"],
    ["hexadecimal", "llm_tokens", "0x10"],
    ["negative", "cost_usd", "-1"],
    ["nothing", "cost_usd", "0"],
    ["a part of a token", "llm_tokens", "1.5"],
    ["two numbers", "cost_usd", "1.2.3"],
  ] as const)("%s", ([, dimension, typed]) => {
    expect(amountProblem(dimension, typed)).toMatch(/^Write /);
    expect(extensionsOf({ [dimension]: typed })).toBeNull();
  });
});

test("an empty field extends nothing", () => {
  expect(extensionsOf({ cost_usd: " 0.25 ", llm_tokens: "" })).toEqual({ cost_usd: 0.25 });
});

test("a limit may be nothing, and all else that is wrong is wrong with it too", () => {
  expect(limitsOf({ cost_usd: "0", steps: "20", llm_tokens: "" })).toEqual({ cost_usd: 0, steps: 20 });
  expect(limitsOf({ cost_usd: "-1" })).toBeNull();
  expect(limitsOf({ steps: "1.5" })).toBeNull();
});
