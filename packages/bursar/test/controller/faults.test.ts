import { describe, expect, test } from "vitest";
import { BudgetController, DEFAULT_BUDGET } from "../../src/controller/controller.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

// Faults that budget controllers of this shape are known for, each of them a way to spend more than was allowed.

describe("money", () => {
  test("ten times 0.10 USD is exactly 1.00", () => {
    const controller = new BudgetController({ maxCost: 1 });

    for (let call = 0; call < 10; call++) controller.record({ cost: 0.1 });

    expect(controller.getUsage().cost).toBe(1);
    expect(controller.canProceed("iteration")).toBe(false);
    expect(controller.getRemaining().cost).toBe(0);
  });

  test("eight times 0.10 USD is exactly 80 %", () => {
    const warnings: string[] = [];
    const controller = new BudgetController({ maxCost: 1 }, (text) => warnings.push(text));

    for (let call = 0; call < 7; call++) controller.record({ cost: 0.1 });
    expect(warnings).toEqual([]);
    controller.record({ cost: 0.1 });

    expect(warnings).toEqual(["Cost at 80% of budget"]);
  });

  test("a charge rounds up to a billionth and a limit rounds down", () => {
    const controller = new BudgetController({ maxCost: 0.0000000029 });

    controller.record({ cost: 0.0000000001 });

    expect(controller.getUsage().cost).toBe(0.000000001);
    expect(controller.getRemaining().cost).toBe(0.000000001);
  });

  test("a negative cost is no refund", () => {
    const controller = new BudgetController({ maxCost: 1 });
    controller.record({ cost: 1 });

    expect(() => controller.record({ cost: -0.5 })).toThrow("cost is -0.5; allowed: a number from 0 to 9000000");

    expect(controller.getUsage().cost).toBe(1);
    expect(controller.canProceed("iteration")).toBe(false);
  });
});

describe("limits", () => {
  test("an undefined limit is no licence", () => {
    const budget = { maxCost: undefined } as unknown as { maxCost: number };

    expect(() => new BudgetController(budget)).toThrow(
      "maxCost is undefined; leave it out for 5, or give null for no limit",
    );
  });

  test("a limit left out is the default, null is none", () => {
    expect(new BudgetController().getRemaining()).toMatchObject({ cost: 5, tokens: 500_000, depth: 2, iterations: 30 });
    expect(new BudgetController({ maxCost: null }).getRemaining()).toMatchObject({ cost: null, tokens: 500_000 });
    expect(DEFAULT_BUDGET).toEqual({
      maxCost: 5,
      maxTokens: 500_000,
      maxTime: 300_000,
      maxDepth: 2,
      maxIterations: 30,
    });
    expect(Object.isFrozen(DEFAULT_BUDGET)).toBe(true);
  });

  test.each([
    [{ maxCost: 0 }, "Cost budget exhausted"],
    [{ maxTokens: 0 }, "Token budget exhausted"],
    [{ maxTime: 0 }, "Time budget exhausted"],
    [{ maxIterations: 0 }, "Max iterations reached"],
  ] as const)("%o blocks at once", (budget, reason) => {
    const controller = new BudgetController(budget, () => expect.unreachable("there is nothing to warn of"));

    expect(controller.canProceed("iteration")).toBe(false);
    expect(controller.getBlockReason()).toBe(reason);
  });

  test("an unlimited controller is blocked by nothing", () => {
    const clock = new FakeClock();
    const none = { maxCost: null, maxTokens: null, maxTime: null, maxDepth: null, maxIterations: null };
    const controller = new BudgetController(none, () => expect.unreachable("there is no limit"), { clock });

    controller.record({ cost: 8_000_000, inputTokens: 1e12, iteration: true, subcall: true, depth: 99 });
    clock.advance(1e10);

    expect(controller.canProceed("iteration")).toBe(true);
    expect(controller.canProceed("subcall", 1_000)).toBe(true);
    expect(controller.getBlockReason()).toBeNull();
    expect(controller.getSubBudget(5)).toEqual(none);
  });
});

describe("time", () => {
  test("somebody who sets the wall clock changes nothing", () => {
    const clock = new FakeClock();
    const controller = new BudgetController({ maxTime: 1_000 }, undefined, { clock });
    clock.advance(400);

    clock.jump(86_400_000);
    expect(controller.canProceed("iteration")).toBe(true);
    clock.jump(-2 * 86_400_000);

    expect(controller.getUsage().duration).toBe(400);
    expect(controller.getRemaining().time).toBe(600);
  });

  test("a monotonic clock that goes back all the same gives no time back", () => {
    let monotonic = 500;
    const clock = { now: () => ({ instant: 0, monotonic }) };
    const controller = new BudgetController({ maxTime: 100 }, undefined, { clock });
    monotonic = 570;
    controller.canProceed("iteration");

    monotonic = 0;

    expect(controller.getUsage().duration).toBe(70);
    expect(controller.getRemaining().time).toBe(30);
  });

  test("without a clock of one's own the machine's is used", () => {
    const controller = new BudgetController();

    const { duration } = controller.getUsage();

    expect(duration).toBeGreaterThanOrEqual(0);
    expect(duration).toBeLessThan(60_000);
  });
});

describe("children", () => {
  test("five sub-budgets taken at the same time do not add up to more than the parent", () => {
    const parent = new BudgetController({ maxCost: 10, maxTokens: 1_000 });
    const subs = Array.from({ length: 5 }, () => parent.getSubBudget(0));

    const children = subs.map((sub) => new BudgetController(sub));

    expect(subs.map(({ maxCost }) => maxCost)).toEqual([5, 5, 5, 5, 5]);
    expect(children.map((child) => child.getRemaining().cost)).toEqual([5, 5, 0, 0, 0]);
    expect(children.map((child) => child.getRemaining().tokens)).toEqual([500, 500, 0, 0, 0]);
    expect(children.map((child) => child.canProceed("iteration"))).toEqual([true, true, false, false, false]);
    expect(parent.getRemaining()).toMatchObject({ cost: 0, tokens: 0 });
  });

  test("five sub-budgets taken one after the other get half of what is left each time", () => {
    const parent = new BudgetController({ maxCost: 10 });

    const children = Array.from({ length: 5 }, () => new BudgetController(parent.getSubBudget(0)));

    expect(children.map((child) => child.getRemaining().cost)).toEqual([5, 2.5, 1.25, 0.625, 0.3125]);
    expect(parent.getRemaining().cost).toBe(0.3125);
  });

  test("exhausted depth is not unlimited depth", () => {
    const parent = new BudgetController({ maxDepth: 2 });

    const sub = parent.getSubBudget(1);
    const child = new BudgetController(sub);

    expect(sub.maxDepth).toBe(0);
    expect([0, 1, 999].map((depth) => child.canProceed("subcall", depth))).toEqual([false, false, false]);
    expect(child.getRemaining().depth).toBe(0);
  });

  test("a child made beyond the depth allowed cannot go deeper", () => {
    const parent = new BudgetController({ maxDepth: 1 });

    const child = new BudgetController(parent.getSubBudget(7));

    expect(child.canProceed("subcall")).toBe(false);
    expect(new BudgetController(child.getSubBudget()).canProceed("subcall")).toBe(false);
  });

  test.each([0, 1, 2, 3, 4])("maxDepth %i reaches exactly as many levels", (maxDepth) => {
    let controller = new BudgetController({ maxDepth, maxCost: null, maxTokens: null });
    let levels = 0;

    while (controller.canProceed("subcall")) {
      controller = new BudgetController(controller.getSubBudget());
      levels++;
    }

    expect(levels).toBe(maxDepth);
  });

  test("tokens and time are granted in whole numbers", () => {
    const clock = new FakeClock();
    const parent = new BudgetController({ maxTokens: 7, maxTime: 7 }, undefined, { clock });
    clock.advance(0.4);

    expect(parent.getSubBudget()).toMatchObject({ maxTokens: 3, maxTime: 3 });
  });

  test("a billionth that cannot be halved is left with the parent", () => {
    const parent = new BudgetController({ maxCost: 0.000000003 });

    expect(parent.getSubBudget().maxCost).toBe(0.000000001);
  });

  test("cost, tokens and subcalls of a child count above it too, its iterations and depth do not", () => {
    const parent = new BudgetController({ maxDepth: 5 });
    const child = new BudgetController(parent.getSubBudget(1));

    child.record({ cost: 1, inputTokens: 5, outputTokens: 6, iteration: true, subcall: true, depth: 1 });

    const both = { cost: 1, tokens: 11, inputTokens: 5, outputTokens: 6, subcalls: 1 };
    expect(child.getUsage()).toMatchObject({ ...both, iterations: 1, maxDepthReached: 1 });
    expect(parent.getUsage()).toMatchObject({ ...both, iterations: 0, maxDepthReached: 0 });
  });
});
