import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_AMOUNT } from "../../src/core/amount.js";
import { InputError } from "../../src/core/errors.js";
import { Budget } from "../../src/prompt/budget.js";
import { nodeOf } from "../../src/prompt/budget-node.js";
import { Deadline } from "../../src/prompt/deadline.js";
import { evaluate } from "../../src/prompt/evaluate.js";
import type { TokenUsage } from "../../src/prompt/tokens.js";
import type { TokenReport, Tool } from "../../src/prompt/tool.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";
import { calls, failureOf, says, scripted } from "./scripted.js";

const isTokens = (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= MAX_AMOUNT;

/** Anything that is no number of tokens. */
const bad = fc
  .oneof(
    fc.constantFrom<unknown>(
      Number.NaN,
      Infinity,
      -Infinity,
      -1,
      0.5,
      MAX_AMOUNT + 2,
      2 ** 60,
      undefined,
      "5",
      5n,
      [5],
    ),
    fc.double(),
    fc.anything(),
  )
  .filter((value) => !isTokens(value));
const badLimit = bad.filter((value) => value !== null);
const good = fc.integer({ min: 0, max: 1_000 });
const kind = fc.constantFrom("input" as const, "output" as const);
const greeting = { name: "greeting", text: "Say hello." };

/** Figures of which one is bad. */
function spoilt<T>(value: fc.Arbitrary<T>): fc.Arbitrary<{ field: "input" | "output"; usage: TokenUsage }> {
  return fc.record({ field: kind, usage: fc.record({ input: good, output: good }), value }).map((given) => ({
    field: given.field,
    usage: { ...given.usage, [given.field]: given.value } as TokenUsage,
  }));
}

function fieldOf(run: () => unknown): string | null {
  try {
    run();
    return null;
  } catch (error) {
    return error instanceof InputError ? error.field : String(error);
  }
}

test("a bad limit is refused and named", () => {
  fc.assert(
    fc.property(spoilt(badLimit), ({ field, usage }) => {
      expect(fieldOf(() => new Budget({ tokenLimit: usage }))).toBe(`budget.tokenLimit.${field}`);
    }),
  );
});

test("a bad usage is refused and named", () => {
  const budgets = [new Budget({ tokenLimit: { input: 5_000, output: 5_000 } }), new Budget({})];
  fc.assert(
    fc.property(spoilt(bad), fc.constantFrom(...budgets), ({ field, usage }, budget) => {
      expect(fieldOf(() => budget.remainingTokens(usage))).toBe(`usage.${field}`);
      expect(fieldOf(() => budget.assertWithinLimit(usage))).toBe(`usage.${field}`);
    }),
  );
});

test("a bad instant is refused and named", () => {
  const isInstant = (value: unknown) => Number.isInteger(value) && Math.abs(value as number) <= 8.64e15;
  const noInstant = fc
    .oneof(
      fc.constantFrom<unknown>(new Date(Number.NaN), null, "2030-01-01", 8.64e15 + 2, 0.5),
      fc.double(),
      fc.anything(),
    )
    .filter((value) => !isInstant(value) && !(value instanceof Date && !Number.isNaN(value.getTime())));
  fc.assert(
    fc.property(noInstant, (value) => {
      expect(fieldOf(() => new Deadline(value as number))).toBe("deadline");
      if (value !== undefined) expect(fieldOf(() => new Deadline(0).remaining(value as number))).toBe("now");
    }),
  );
});

test("a bad part of a budget is refused and named", () => {
  const noObject = fc.anything().filter((value) => typeof value !== "object" || Array.isArray(value));
  fc.assert(
    fc.property(noObject, (value) => {
      expect(fieldOf(() => new Budget({ deadline: value as never }))).toBe("budget.deadline");
      expect(fieldOf(() => new Budget({ tokenLimit: value as never }))).toBe("budget.tokenLimit");
      expect(fieldOf(() => new Budget(value as never))).toBe("budget");
    }),
  );
  expect(fieldOf(() => new Budget({ deadline: new Date() as never }))).toBe("budget.deadline");
});

test("any good limit and instant are taken as they are", () => {
  const clock = new FakeClock({ instant: -8.64e15 });
  const limit = fc.option(fc.integer({ min: 0, max: MAX_AMOUNT }));
  const instant = fc.integer({ min: -8.64e15 + 1, max: 8.64e15 });
  fc.assert(
    fc.property(limit, limit, instant, good, good, (input, output, at, i, o) => {
      const budget = new Budget({ deadline: new Deadline(at), tokenLimit: { input, output } }, { clock });

      expect(budget.tokenLimit).toEqual({ input, output });
      expect(budget.remainingTime(new Date(0))).toBe(at - 0);
      expect(budget.remainingTokens({ input: i, output: o })).toEqual({
        input: input === null ? null : input - i,
        output: output === null ? null : output - o,
      });
    }),
  );
});

test("a bad report of a provider or a tool ends the evaluation and never lowers what is used", async () => {
  const places = fc.constantFrom("response.usage", "response.cumulativeUsage", "quote", "report");
  await fc.assert(
    fc.asyncProperty(spoilt(bad), places, async ({ field, usage }, place) => {
      const budget = new Budget({ tokenLimit: { input: 10_000, output: 10_000 } });
      const tool: Tool = { name: "tool", handler: (_input, { reportTokens }) => reportTokens(usage as TokenReport) };
      const key = place.replace("response.", "");
      const reply = place === "report" ? calls("tool", 1, 1) : { ...says("x", 1, 1), usage: null, [key]: usage };
      const provider = scripted([reply], place === "quote" ? usage : { input: 10, output: 10 });

      const error = await failureOf(evaluate(provider, { ...greeting, tools: [tool] }, { budget }));

      expect(error.phase).toBe(place === "report" ? "tool" : "request");
      expect(error.cause).toMatchObject({ name: "InputError", field: `${place}.${field}` });
      const charged = place === "quote" ? 0 : place === "report" ? 1 : 10;
      expect(nodeOf(budget).usage()).toEqual({ input: charged, output: charged });
    }),
  );
});
