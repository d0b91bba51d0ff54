import { describe, expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { InputError } from "../../src/core/errors.js";
import { Budget } from "../../src/prompt/budget.js";
import { Deadline } from "../../src/prompt/deadline.js";
import { BudgetExceededError, PromptEvaluationError } from "../../src/prompt/errors.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

const NOON = Date.UTC(2030, 0, 1, 12);
const clockAt = (instant: number) => new FakeClock({ instant });

scenario("003/budget-immutable", () => {
  const limit = { input: 100, output: 50 };
  const budget = new Budget({ tokenLimit: limit });

  limit.input = 1_000_000;

  expect(budget.tokenLimit).toEqual({ input: 100, output: 50 });
  expect(() => Object.assign(budget, { tokenLimit: null })).toThrow(TypeError);
  expect(() => Object.assign(budget.tokenLimit ?? {}, { input: 1_000 })).toThrow(TypeError);
});

scenario("003/budget-deadline", () => {
  const instant = new Date(NOON);
  const deadline = new Deadline(instant);
  const budget = new Budget({ deadline }, { clock: clockAt(NOON - 5_000) });

  instant.setFullYear(2040);

  expect(budget.deadline).toBe(deadline);
  expect(budget.deadline?.at).toBe(NOON);
  expect(budget.remainingTime()).toBe(5_000);
  expect(new Budget({ deadline: null }).deadline).toBeNull();
  expect(new Budget({}).deadline).toBeNull();
});

scenario("003/budget-token-limit", () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const pureDeadline = new Budget({ deadline: new Deadline(NOON), tokenLimit: null }, { clock: clockAt(NOON - 1) });

  expect(budget.tokenLimit).toEqual({ input: 100, output: 50 });
  expect(pureDeadline.tokenLimit).toBeNull();
  expect(pureDeadline.remainingTokens({ input: 10 ** 9, output: 10 ** 9 })).toBeNull();
  expect(() => pureDeadline.assertWithinLimit({ input: 10 ** 9, output: 10 ** 9 })).not.toThrow();
});

scenario("003/token-limit", () => {
  const usage = { input: 30, output: 20 };

  const remaining = new Budget({ tokenLimit: { input: 100, output: 50 } }).remainingTokens(usage);

  expect(remaining).toEqual({ input: 70, output: 30 });
});

scenario("003/token-limit-input", () => {
  const budget = new Budget({ tokenLimit: { input: 100 } });

  expect(() => budget.assertWithinLimit({ input: 99, output: 10 ** 9 })).not.toThrow();
  expect(() => budget.assertWithinLimit({ input: 100, output: 0 })).toThrow(BudgetExceededError);
});

scenario("003/token-limit-output", () => {
  const budget = new Budget({ tokenLimit: { output: 50 } });

  expect(() => budget.assertWithinLimit({ input: 10 ** 9, output: 49 })).not.toThrow();
  expect(() => budget.assertWithinLimit({ input: 0, output: 50 })).toThrow(BudgetExceededError);
});

scenario("003/token-limit-unbounded", () => {
  const budget = new Budget({ tokenLimit: { input: null, output: 50 } });

  expect(budget.tokenLimit).toEqual({ input: null, output: 50 });
  expect(budget.remainingTokens({ input: 7, output: 7 })).toEqual({ input: null, output: 43 });
  expect(new Budget({ tokenLimit: {} }).tokenLimit).toEqual({ input: null, output: null });
});

scenario("003/budget-construction", "rejects impossible states", () => {
  const clock = clockAt(NOON);
  const negativeInput = () => new Budget({ tokenLimit: { input: -1, output: 1 } });
  const negativeOutput = () => new Budget({ tokenLimit: { input: 1, output: -1 } });
  const expired = () => new Budget({ deadline: new Deadline(NOON - 1) }, { clock });
  const expiringNow = () => new Budget({ deadline: new Deadline(NOON) }, { clock });

  expect(negativeInput).toThrow("budget.tokenLimit.input is -1; allowed: a whole number from 0 to");
  expect(negativeOutput).toThrow("budget.tokenLimit.output is -1; allowed: a whole number from 0 to");
  expect(expired).toThrow("budget.deadline has passed 1 ms ago; allowed: an instant to come");
  expect(expiringNow).toThrow(InputError);
});

scenario("003/budget-construction", "allows a pure deadline budget", () => {
  const budget = new Budget({ deadline: new Deadline(NOON + 1), tokenLimit: null }, { clock: clockAt(NOON) });

  expect(budget.tokenLimit).toBeNull();
  expect(budget.remainingTime()).toBe(1);
});

scenario("003/remaining-time", () => {
  const clock = clockAt(NOON);
  const budget = new Budget({ deadline: new Deadline(NOON + 60_000) }, { clock });

  clock.advance(45_000);

  expect(budget.remainingTime()).toBe(15_000);
  expect(budget.remainingTime(new Date(NOON))).toBe(60_000);
  expect(budget.remainingTime(new Date(NOON + 90_000))).toBe(-30_000);
  expect(new Budget({}).remainingTime()).toBeNull();
});

scenario("003/remaining-tokens", () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: null } });

  expect(budget.remainingTokens({ input: 40, output: 40 })).toEqual({ input: 60, output: null });
  expect(budget.remainingTokens({ input: 130, output: 0 })).toEqual({ input: -30, output: null });
  expect(new Budget({}).remainingTokens({ input: 40, output: 40 })).toBeNull();
});

scenario("003/assert-within-limit", () => {
  const budget = new Budget({ tokenLimit: { input: 100, output: 50 } });
  const raised = (input: number, output: number) => {
    try {
      budget.assertWithinLimit({ input, output });
      return null;
    } catch (error) {
      return error as BudgetExceededError;
    }
  };

  expect(raised(99, 49)).toBeNull();
  expect(raised(100, 0)).toMatchObject({ dimension: "input", phase: "budget", promptName: null });
  expect(raised(0, 51)).toMatchObject({ dimension: "output", phase: "budget" });
  expect(raised(100, 50)).toMatchObject({ dimension: "input" });
  expect(raised(100, 0)?.budget).toEqual({
    deadline: null,
    tokenLimit: { input: 100, output: 50 },
    usage: { input: 100, output: 0 },
    estimated: false,
    remainingTime: null,
    remainingTokens: { input: 0, output: 50 },
  });
  expect(() => new Budget({ tokenLimit: null }).assertWithinLimit({ input: 1, output: 1 })).not.toThrow();
});

scenario("003/budget-exceeded-error", () => {
  const details = { budget: null, promptName: "plan" };

  const error = new BudgetExceededError("deadline", "too late", details);

  expect(error).toBeInstanceOf(PromptEvaluationError);
  expect(error).toMatchObject({ name: "BudgetExceededError", code: "budget_exceeded", phase: "budget" });
  expect(new BudgetExceededError("output", "too much", { ...details, phase: "response" }).phase).toBe("response");
});

scenario("003/unit-tests", "a limit of zero allows nothing", () => {
  const budget = new Budget({ tokenLimit: { input: 0, output: null } });

  expect(budget.remainingTokens({ input: 0, output: 0 })).toEqual({ input: 0, output: null });
  expect(() => budget.assertWithinLimit({ input: 0, output: 0 })).toThrow("0 of 0 input tokens are used");
});

test("a budget is written as JSON by what it allows", () => {
  const parts = { deadline: new Deadline(NOON), tokenLimit: { input: 5 } };

  const written = JSON.stringify(new Budget(parts, { clock: clockAt(0) }));

  expect(written).toBe('{"deadline":"2030-01-01T12:00:00.000Z","tokenLimit":{"input":5,"output":null}}');
});

test("a Map holds no limits that anybody would hear of, and is refused", () => {
  const limits = new Map([["input", 5]]);
  expect(() => new Budget(new Map([["tokenLimit", limits]]) as never)).toThrow(/^budget is .*allowed: an object with/);
  expect(() => new Budget({ tokenLimit: limits as never })).toThrow(/^budget.tokenLimit is .*allowed: an object with/);
});

describe("a deadline", () => {
  test("is an instant, as a date or as milliseconds", () => {
    expect(new Deadline(NOON).at).toBe(new Deadline(new Date(NOON)).at);
    expect(new Deadline(NOON).remaining(NOON - 1)).toBe(1);
    expect(new Deadline(NOON).remaining(new Date(NOON + 1))).toBe(-1);
    expect(new Deadline(0).remaining()).toBeLessThan(0);
  });

  test("cannot be changed", () => {
    expect(() => Object.assign(new Deadline(NOON), { at: 0 })).toThrow(TypeError);
  });
});

test("a misspelt key is refused, because it would leave something unlimited", () => {
  const misspelt = { tokenLimits: { input: 1 } } as object;

  expect(() => new Budget(misspelt)).toThrow(
    "budget.tokenLimits is not known here; did you mean tokenLimit?; allowed: deadline, tokenLimit",
  );
  expect(() => new Budget({ tokenLimit: { inputs: 1 } as object })).toThrow(
    "budget.tokenLimit.inputs is not known here; did you mean input?",
  );
});
