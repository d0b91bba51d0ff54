import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type Budget,
  BudgetController,
  type ControllerOptions,
  type OnWarning,
  type Operation,
  type Recording,
} from "../../src/controller/controller.js";
import { InputError } from "../../src/core/errors.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

const LIMITS = ["maxCost", "maxTokens", "maxTime", "maxDepth", "maxIterations"] as const;
const WHOLE_LIMITS = LIMITS.filter((key) => key !== "maxCost");
const COUNTS = ["inputTokens", "outputTokens", "depth"] as const;
const FLAGS = ["iteration", "subcall"] as const;

const noNumber = fc.oneof(
  fc.constantFrom(undefined, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 9.1e15),
  fc.double({ max: -Number.MIN_VALUE, noNaN: true, noDefaultInfinity: true }),
  fc.string(),
  fc.boolean(),
  fc.bigInt(),
  fc.array(fc.integer()),
  fc.object(),
);
const fraction = fc.double({ min: 0, max: 1e6, noNaN: true }).filter((value) => !Number.isInteger(value));
const noFlag = fc.oneof(noNumber, fc.integer(), fc.constant(null)).filter((value) => typeof value !== "boolean");

/** The InputError that something throws, which must name the field first. */
function refusal(run: () => unknown): InputError {
  try {
    run();
  } catch (error) {
    if (error instanceof InputError) {
      expect(error.message.startsWith(`${error.field} `)).toBe(true);
      return error;
    }
    throw error;
  }
  return expect.unreachable("it was accepted");
}

describe("a limit", () => {
  test("that is no amount is refused by name", () => {
    fc.assert(
      fc.property(fc.constantFrom(...LIMITS), noNumber, (key, value) => {
        expect(refusal(() => new BudgetController({ [key]: value } as Partial<Budget>)).field).toBe(key);
      }),
    );
  });

  test("that is not whole is refused where the unit is", () => {
    fc.assert(
      fc.property(fc.constantFrom(...WHOLE_LIMITS), fraction, (key, value) => {
        expect(refusal(() => new BudgetController({ [key]: value })).field).toBe(key);
      }),
    );
  });

  test("says what is allowed", () => {
    expect(() => new BudgetController({ maxCost: Number.NaN })).toThrow(
      "maxCost is NaN; allowed: a number from 0 to 9000000",
    );
    expect(() => new BudgetController({ maxTokens: 0.5 })).toThrow(
      "maxTokens is 0.5; allowed: a whole number from 0 to 9000000000000000",
    );
    expect(() => new BudgetController({ maxCost: 1e-10 })).toThrow(
      "maxCost is 1e-10, smaller than the smallest unit; allowed: 0, or at least 1e-9",
    );
  });

  test("that is an amount, or null, is what remains at first", () => {
    const limits = fc.record(
      {
        maxCost: fc.option(fc.integer({ min: 0, max: 5_000_000_000_000 }).map((micros) => micros / 1e6)),
        maxTokens: fc.option(fc.maxSafeNat().map((value) => Math.min(value, 9e15))),
        maxDepth: fc.option(fc.nat()),
        maxIterations: fc.option(fc.nat()),
      },
      { noNullPrototype: false },
    );
    fc.assert(
      fc.property(limits, (budget) => {
        expect(new BudgetController(budget).getRemaining()).toMatchObject({
          cost: budget.maxCost,
          tokens: budget.maxTokens,
          depth: budget.maxDepth,
          iterations: budget.maxIterations,
        });
      }),
    );
  });

  test("that is not known is refused, with the one that was meant", () => {
    const typo = { maxCots: 1 } as unknown as Budget;

    expect(() => new BudgetController(typo)).toThrow(
      "maxCots is not known in budget; did you mean maxCost?; allowed: maxCost, maxTokens, maxTime, maxDepth, maxIterations",
    );
    expect(refusal(() => new BudgetController(JSON.parse('{"__proto__": 1}'))).field).toBe("__proto__");
  });

  test("may be inherited: a limit that is there is not ignored", () => {
    const budget = Object.create({ maxCost: 1 }) as Budget;

    expect(new BudgetController(budget).getRemaining().cost).toBe(1);
  });

  test.each([null, 5, "5", [], () => {}, true, new Map([["maxCost", 1]])])(
    "is given in an object, not in %o",
    (budget) => {
      expect(refusal(() => new BudgetController(budget as unknown as Budget)).field).toBe("budget");
    },
  );
});

describe("what else a controller is made of", () => {
  test.each([null, 5, "warn", {}])("onWarning is a function, not %o", (onWarning) => {
    expect(refusal(() => new BudgetController({}, onWarning as unknown as OnWarning)).field).toBe("onWarning");
  });

  test.each([
    [null, "options"],
    [5, "options"],
    [{ clok: new FakeClock() }, "clok"],
    [{ clock: undefined }, "clock"],
    [{ clock: null }, "clock"],
    [{ clock: Date }, "clock"],
    [{ clock: { now: 5 } }, "clock"],
    [{ clock: { now: () => ({}) } }, "clock"],
    [{ clock: { now: () => ({ instant: 0, monotonic: Number.NaN }) } }, "clock"],
  ])("options %o are refused", (options, field) => {
    expect(refusal(() => new BudgetController({}, undefined, options as unknown as ControllerOptions)).field).toBe(
      field,
    );
  });

  test("a child that cannot be made holds nothing", () => {
    const parent = new BudgetController({ maxCost: 10 });
    const sub = parent.getSubBudget();

    refusal(() => new BudgetController(sub, "warn" as unknown as OnWarning));
    refusal(() => new BudgetController(sub, undefined, { clock: new FakeClock() }));

    expect(parent.getRemaining().cost).toBe(10);
    parent.end();
  });
});

describe("a question", () => {
  test("names an operation that is known", () => {
    const controller = new BudgetController();

    expect(() => controller.canProceed("iterations" as Operation)).toThrow(
      'operation is "iterations"; did you mean iteration?; allowed: iteration, subcall',
    );
    fc.assert(
      fc.property(fc.anything(), (operation) => {
        fc.pre(operation !== "iteration" && operation !== "subcall");
        expect(refusal(() => controller.canProceed(operation as Operation)).field).toBe("operation");
      }),
    );
  });

  test("has a depth that is a whole number", () => {
    const controller = new BudgetController();
    const noDepth = fc.oneof(
      fraction,
      noNumber.filter((value) => value !== undefined),
    );
    fc.assert(
      fc.property(noDepth, (depth) => {
        expect(refusal(() => controller.canProceed("subcall", depth as number)).field).toBe("depth");
        expect(refusal(() => controller.canProceed("iteration", depth as number)).field).toBe("depth");
        expect(refusal(() => controller.getSubBudget(depth as number)).field).toBe("depth");
      }),
    );
  });

  test("changes nothing", () => {
    const controller = new BudgetController({ maxIterations: 1 }, undefined, { clock: new FakeClock() });
    const before = [controller.getUsage(), controller.getRemaining()];

    for (let asked = 0; asked < 5; asked++) expect(controller.canProceed("iteration")).toBe(true);
    for (let asked = 0; asked < 5; asked++) expect(controller.canProceed("subcall", 1)).toBe(true);

    expect([controller.getUsage(), controller.getRemaining()]).toEqual(before);
  });
});

describe("a recording", () => {
  const good: Recording = { cost: 1, inputTokens: 2, outputTokens: 3, iteration: true, subcall: true, depth: 1 };

  function unchangedBy(recording: unknown): InputError {
    const parent = new BudgetController({}, undefined, { clock: new FakeClock() });
    const controller = new BudgetController(parent.getSubBudget());
    controller.record(good);
    const before = [controller.getUsage(), parent.getUsage(), parent.getRemaining()];
    const error = refusal(() => controller.record(recording as Recording));
    expect([controller.getUsage(), parent.getUsage(), parent.getRemaining()]).toEqual(before);
    return error;
  }

  test("with an amount that is none is refused by name, and nothing of it is recorded", () => {
    fc.assert(
      fc.property(fc.constantFrom("cost", ...COUNTS), fc.oneof(noNumber, fc.constant(null)), (field, value) => {
        expect(unchangedBy({ ...good, [field]: value }).field).toBe(field);
      }),
    );
  });

  test("with a part of a token or a level is refused", () => {
    fc.assert(
      fc.property(fc.constantFrom(...COUNTS), fraction, (field, value) => {
        expect(unchangedBy({ ...good, [field]: value }).field).toBe(field);
      }),
    );
  });

  test("with a flag that is neither true nor false is refused", () => {
    fc.assert(
      fc.property(fc.constantFrom(...FLAGS), noFlag, (field, value) => {
        expect(unchangedBy({ ...good, [field]: value }).field).toBe(field);
      }),
    );
  });

  test("with a field that is not known is refused, with the one that was meant", () => {
    expect(unchangedBy({ ...good, inputToken: 5 }).message).toBe(
      "inputToken is not known in usage; did you mean inputTokens?; allowed: cost, inputTokens, outputTokens, iteration, subcall, depth",
    );
  });

  test.each([undefined, null, 5, "cost", []])("is an object, not %o", (recording) => {
    expect(unchangedBy(recording).field).toBe("usage");
  });

  test("of more than can be counted exactly is refused", () => {
    expect(unchangedBy({ inputTokens: 9e15, outputTokens: 1 }).field).toBe("inputTokens + outputTokens");
    expect(unchangedBy({ cost: 9_000_000 + 1 }).field).toBe("cost");
  });

  test("whose total can no longer be counted is refused and leaves everything as it was", () => {
    const controller = new BudgetController({ maxCost: null });
    controller.record({ cost: 9_000_000 });

    refusal(() => controller.record({ cost: 9_000_000, iteration: true }));

    expect(controller.getUsage()).toMatchObject({ cost: 9_000_000, iterations: 0 });
  });

  test("of nothing is nothing", () => {
    const controller = new BudgetController({}, undefined, { clock: new FakeClock() });
    const before = controller.getUsage();

    controller.record({});

    expect(controller.getUsage()).toEqual(before);
  });
});
