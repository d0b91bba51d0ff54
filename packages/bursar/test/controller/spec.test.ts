import { expect } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { BudgetController } from "../../src/controller/controller.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

scenario("002/cost-limit-check", () => {
  const controller = new BudgetController({ maxCost: 1 });

  controller.record({ cost: 0.999999999 });
  expect(controller.canProceed("iteration")).toBe(true);
  controller.record({ cost: 0.000000001 });

  expect(controller.canProceed("iteration")).toBe(false);
  expect(controller.canProceed("subcall")).toBe(false);
});

scenario("002/cost-limit-check", "beyond the limit", () => {
  const controller = new BudgetController({ maxCost: 1 });

  controller.record({ cost: 7 });

  expect(controller.canProceed("iteration")).toBe(false);
});

scenario("002/token-limit-check", () => {
  const controller = new BudgetController({ maxTokens: 100 });

  controller.record({ inputTokens: 60, outputTokens: 39 });
  expect(controller.canProceed("iteration")).toBe(true);
  controller.record({ outputTokens: 1 });

  expect(controller.canProceed("iteration")).toBe(false);
  expect(controller.canProceed("subcall")).toBe(false);
});

scenario("002/time-limit-check", () => {
  const clock = new FakeClock();
  const controller = new BudgetController({ maxTime: 1_000 }, undefined, { clock });

  clock.advance(999);
  expect(controller.canProceed("iteration")).toBe(true);
  clock.advance(1);

  expect(controller.canProceed("iteration")).toBe(false);
  expect(controller.canProceed("subcall")).toBe(false);
});

scenario("002/iteration-limit-check", () => {
  const controller = new BudgetController({ maxIterations: 2 });

  controller.record({ iteration: true });
  expect(controller.canProceed("iteration")).toBe(true);
  controller.record({ iteration: true });

  expect(controller.canProceed("iteration")).toBe(false);
});

scenario("002/iteration-limit-check", "concerns iterations alone", () => {
  const controller = new BudgetController({ maxIterations: 1 });

  controller.record({ iteration: true });

  expect(controller.canProceed("subcall")).toBe(true);
});

scenario("002/depth-limit-check", () => {
  const controller = new BudgetController({ maxDepth: 2 });

  expect([0, 1, 2, 3].map((depth) => controller.canProceed("subcall", depth))).toEqual([true, true, false, false]);
});

scenario("002/depth-limit-check", "concerns subcalls alone", () => {
  const controller = new BudgetController({ maxDepth: 2 });

  expect(controller.canProceed("iteration", 9)).toBe(true);
});

scenario("002/record-cost", () => {
  const controller = new BudgetController();

  controller.record({ cost: 0.1 });
  controller.record({ cost: 0.2 });

  expect(controller.getUsage().cost).toBe(0.3);
});

scenario("002/record-tokens", () => {
  const controller = new BudgetController();

  controller.record({ inputTokens: 120, outputTokens: 30 });
  controller.record({ inputTokens: 5 });
  controller.record({ outputTokens: 7 });

  expect(controller.getUsage()).toMatchObject({ tokens: 162, inputTokens: 125, outputTokens: 37 });
});

scenario("002/record-iteration", () => {
  const controller = new BudgetController();

  controller.record({ iteration: true });
  controller.record({ iteration: false });
  controller.record({ cost: 1 });
  controller.record({ iteration: true });

  expect(controller.getUsage().iterations).toBe(2);
});

scenario("002/record-subcall", () => {
  const controller = new BudgetController();

  controller.record({ subcall: true, depth: 1 });
  controller.record({ subcall: true, depth: 3 });
  controller.record({ subcall: true, depth: 2 });
  controller.record({ subcall: true });

  expect(controller.getUsage()).toMatchObject({ subcalls: 4, maxDepthReached: 3 });
});

scenario("002/record-subcall", "a depth beyond the limit is told, and blocks only what is as deep", () => {
  const controller = new BudgetController({ maxDepth: 1 });

  controller.record({ subcall: true, depth: 5 });

  expect(controller.getUsage().maxDepthReached).toBe(5);
  expect(controller.canProceed("subcall", 0)).toBe(true);
  expect(controller.canProceed("subcall", 1)).toBe(false);
});

scenario("002/warning-at-80-cost", () => {
  const warnings: string[] = [];
  const controller = new BudgetController({ maxCost: 1 }, (text) => warnings.push(text));

  controller.record({ cost: 0.799999999 });
  expect(warnings).toEqual([]);
  controller.record({ cost: 0.000000001 });

  expect(warnings).toEqual(["Cost at 80% of budget"]);
});

scenario("002/warning-at-80-tokens", () => {
  const warnings: string[] = [];
  const controller = new BudgetController({ maxTokens: 1_000 }, (text) => warnings.push(text));

  controller.record({ inputTokens: 400, outputTokens: 399 });
  expect(warnings).toEqual([]);
  controller.record({ inputTokens: 1 });

  expect(warnings).toEqual(["Tokens at 80% of budget"]);
});

scenario("002/warning-at-80-time", "when asked", () => {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const controller = new BudgetController({ maxTime: 1_000 }, (text) => warnings.push(text), { clock });

  clock.advance(799);
  controller.canProceed("iteration");
  expect(warnings).toEqual([]);
  clock.advance(1);
  controller.canProceed("iteration");

  expect(warnings).toEqual(["Time at 80% of budget"]);
});

scenario("002/warning-at-80-time", "on record", () => {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const controller = new BudgetController({ maxTime: 1_000 }, (text) => warnings.push(text), { clock });

  clock.advance(850);
  controller.record({ cost: 0.01 });

  expect(warnings).toEqual(["Time at 85% of budget"]);
});

scenario("002/single-warning-per-limit", () => {
  const clock = new FakeClock();
  const warnings: string[] = [];
  const budget = { maxCost: 1, maxTokens: 100, maxTime: 100 };
  const controller = new BudgetController(budget, (text) => warnings.push(text), { clock });
  clock.advance(80);
  controller.record({ cost: 0.8, inputTokens: 80 });

  clock.advance(30);
  controller.record({ cost: 0.1, inputTokens: 10 });
  controller.record({ cost: 0.5, inputTokens: 50 });
  controller.canProceed("iteration");

  expect(warnings.toSorted()).toEqual(["Cost at 80% of budget", "Time at 80% of budget", "Tokens at 80% of budget"]);
});

scenario("002/sub-budget-calculation", () => {
  const clock = new FakeClock();
  const controller = new BudgetController({ maxCost: 10, maxTokens: 1_001, maxTime: 10_001 }, undefined, { clock });
  clock.advance(2_000);

  controller.record({ cost: 4, inputTokens: 300, outputTokens: 200 });

  expect(controller.getSubBudget(0)).toEqual({
    maxCost: 3,
    maxTokens: 250,
    maxTime: 4_000,
    maxDepth: 1,
    maxIterations: 15,
  });
});

scenario("002/sub-budget-depth-reduction", () => {
  const controller = new BudgetController({ maxDepth: 3 });

  expect([0, 1, 2, 3, 9].map((depth) => controller.getSubBudget(depth).maxDepth)).toEqual([2, 1, 0, 0, 0]);
});

scenario("002/sub-budget-iterations", () => {
  const controller = new BudgetController({ maxIterations: 7 });

  controller.record({ iteration: true });
  controller.record({ iteration: true });

  expect(controller.getSubBudget(0).maxIterations).toBe(4);
});

scenario("002/get-usage", () => {
  const clock = new FakeClock();
  const controller = new BudgetController({}, undefined, { clock });
  controller.record({ cost: 0.25, inputTokens: 10, outputTokens: 5, iteration: true, subcall: true, depth: 1 });

  clock.advance(1_234.9);

  expect(controller.getUsage()).toEqual({
    cost: 0.25,
    tokens: 15,
    inputTokens: 10,
    outputTokens: 5,
    duration: 1_234,
    iterations: 1,
    subcalls: 1,
    maxDepthReached: 1,
  });
  clock.advance(1_000);
  expect(controller.getUsage().duration).toBe(2_234);
});

scenario("002/get-remaining", () => {
  const clock = new FakeClock();
  const controller = new BudgetController({}, undefined, { clock });
  clock.advance(60_000);

  controller.record({ cost: 1.5, inputTokens: 1_000, outputTokens: 500, iteration: true, subcall: true, depth: 1 });

  expect(controller.getRemaining()).toEqual({
    cost: 3.5,
    tokens: 498_500,
    time: 240_000,
    depth: 2,
    iterations: 29,
  });
});

scenario("002/get-remaining", "never below zero, and null without a limit", () => {
  const controller = new BudgetController({ maxCost: 1, maxTokens: null, maxTime: null, maxDepth: null });

  controller.record({ cost: 3, inputTokens: 1_000_000_000 });

  expect(controller.getRemaining()).toEqual({ cost: 0, tokens: null, time: null, depth: null, iterations: 30 });
});

scenario("002/get-block-reason", "in the order cost, tokens, time, iterations", () => {
  const clock = new FakeClock();
  const reasons = [0, 1, 2, 3].map((limits) => {
    const budget = {
      maxCost: limits > 0 ? null : 1,
      maxTokens: limits > 1 ? null : 10,
      maxTime: limits > 2 ? null : 100,
      maxIterations: 1,
    };
    const controller = new BudgetController(budget, undefined, { clock });
    controller.record({ cost: 1, inputTokens: 10, iteration: true });
    clock.advance(100);
    return controller.getBlockReason();
  });

  expect(reasons).toEqual([
    "Cost budget exhausted",
    "Token budget exhausted",
    "Time budget exhausted",
    "Max iterations reached",
  ]);
});

scenario("002/no-block-reason", () => {
  const controller = new BudgetController({ maxCost: 1, maxTokens: 10, maxIterations: 2 });

  controller.record({ cost: 0.99, inputTokens: 9, iteration: true, subcall: true, depth: 2 });

  expect(controller.getBlockReason()).toBeNull();
});
