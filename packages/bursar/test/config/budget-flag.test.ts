import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ConfigError, effectiveBudget, readBudgetFlag, shippedConfig } from "../../src/config/config.js";
import { STANDARD } from "../../src/core/dimensions.js";
import { limitsOf } from "./helpers.js";

/** What is wrong in a flag: the column and the sentence. */
function complaints(text: string): readonly (readonly [number | undefined, string])[] {
  try {
    readBudgetFlag(text);
  } catch (error) {
    if (error instanceof ConfigError) return error.problems.map(({ place, message }) => [place?.column, message]);
    throw error;
  }
  throw new Error(`nothing is wrong in ${text}`);
}

describe("limits on a command line", () => {
  test("are read with units, aliases, kebab forms and null", () => {
    expect(readBudgetFlag("cost_usd=0.50,steps=20").limits).toEqual({ cost_usd: 0.5, steps: 20 });
    expect(readBudgetFlag("wall-clock=60s, network_egress=10MB ,llm_tokens=null,fuel=1e9").limits).toEqual({
      wall_clock_ms: 60_000,
      network_egress_bytes: 10_485_760,
      llm_tokens: null,
      fuel: 1_000_000_000,
    });
  });

  test("go to effectiveBudget as they are, under the name of their flag", () => {
    const override = readBudgetFlag("steps=0", { flag: "--limits" });
    const effective = effectiveBudget({ config: shippedConfig(), override, authority: "agent" });
    expect(limitsOf(effective).steps).toEqual([0, "--limits"]);
  });

  test.for([
    ["stps=20", 1, "stps is not a dimension; did you mean steps?"],
    ["steps=20,,fuel=1", 10, "nothing stands here; write dimension=limit, such as steps=20"],
    ["", 1, "nothing stands here"],
    ["steps", 1, "steps has no value; write dimension=limit"],
    ["steps=", 7, "steps has no value; write null for no limit, or 0 for none of it"],
    ["=3", 1, "=3 has no value"],
    ["steps=-1", 7, "steps is -1; allowed: a whole number"],
    ["steps=NaN", 7, 'steps is "NaN"; allowed'],
    ["steps=Infinity", 7, 'steps is "Infinity"; did you mean null?'],
    ["steps=1.5", 7, "steps is 1.5; allowed: a whole number"],
    ["steps=unlimited", 7, "did you mean null?"],
    ["steps=1,steps=2", 9, "steps says steps a second time; keep one"],
    ["cost_usd=1,max-cost-usd=2", 12, "max-cost-usd says cost_usd a second time"],
    ["cost_usd=$1", 10, "did you mean 1?"],
    ["steps= 2 0", 8, 'steps is "2 0"; did you mean 20?'],
  ] as const)("not %s", ([text, column, complaint]) => {
    expect(complaints(text)).toEqual([[column, expect.stringContaining(complaint)]]);
  });

  test("are wrong with everything at once, each with its column and a caret", () => {
    expect(complaints("cots=1,steps=-1,fuel=x").map(([column]) => column)).toEqual([1, 14, 22]);
    expect(() => readBudgetFlag("steps=20,fuel=x")).toThrow(
      [
        '--budget, column 15: fuel is "x"; allowed: a whole number of fuel',
        "   | steps=20,fuel=x",
        "   |               ^",
      ].join("\n"),
    );
    expect(complaints("a".repeat(5000))).toEqual([[undefined, expect.stringContaining("more than 4096 characters")]]);
  });

  test("come back as they were written, whatever they are", () => {
    const limit = fc.option(fc.nat({ max: 1_000_000 }), { nil: null });
    const limits = fc.dictionary(fc.constantFrom(...STANDARD.all.map(({ id }) => id)), limit, { minKeys: 1 });
    fc.assert(
      fc.property(limits, (given) => {
        const text = Object.entries(given).map(([id, each]) => `${id}=${each}`);
        expect(readBudgetFlag(text.join(",")).limits).toEqual({ ...given });
      }),
    );
  });
});
