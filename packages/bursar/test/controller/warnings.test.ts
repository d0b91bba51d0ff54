import { describe, expect, test } from "vitest";
import { BudgetController } from "../../src/controller/controller.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

describe("a warning", () => {
  test("tells how much is used, not which mark was passed", () => {
    const warnings: string[] = [];
    const controller = new BudgetController({ maxCost: 1, maxTokens: 1_000 }, (text) => warnings.push(text));

    controller.record({ cost: 0.7 });
    controller.record({ cost: 0.3, inputTokens: 2_504 });

    expect(warnings.toSorted()).toEqual(["Cost at 100% of budget", "Tokens at 250% of budget"]);
  });

  test("is given also when nothing may go on any more", () => {
    const clock = new FakeClock();
    const warnings: string[] = [];
    const controller = new BudgetController({ maxTime: 100 }, (text) => warnings.push(text), { clock });
    clock.advance(100);

    expect(controller.canProceed("iteration")).toBe(false);

    expect(warnings).toEqual(["Time at 100% of budget"]);
  });

  test("concerns neither iterations nor depth", () => {
    const warnings: string[] = [];
    const controller = new BudgetController({ maxIterations: 1, maxDepth: 1 }, (text) => warnings.push(text));

    controller.record({ iteration: true, subcall: true, depth: 1 });

    expect(warnings).toEqual([]);
  });

  test("of the parent is caused by its child, and each hears of its own budget", () => {
    const clock = new FakeClock();
    const heard: string[] = [];
    const parent = new BudgetController({ maxCost: 10, maxTime: 1_000 }, (text) => heard.push(`parent: ${text}`), {
      clock,
    });
    parent.record({ cost: 4 });
    const child = new BudgetController(parent.getSubBudget(), (text) => heard.push(`child: ${text}`));

    child.record({ cost: 2.4 });
    expect(heard).toEqual(["child: Cost at 80% of budget"]);
    child.record({ cost: 2 });
    clock.advance(400);
    child.canProceed("iteration");
    clock.advance(400);
    child.canProceed("iteration");

    expect(heard.slice(1)).toEqual([
      "parent: Cost at 84% of budget",
      "child: Time at 80% of budget",
      "parent: Time at 80% of budget",
    ]);
  });

  test("that is due when a child is made waits for the next question", () => {
    const clock = new FakeClock();
    const warnings: string[] = [];
    const parent = new BudgetController({ maxTime: 100 }, (text) => warnings.push(text), { clock });
    clock.advance(90);

    const child = new BudgetController(parent.getSubBudget());
    expect(warnings).toEqual([]);
    child.canProceed("iteration");

    expect(warnings).toEqual(["Time at 90% of budget"]);
  });

  test("may record more from inside, and is still given once", () => {
    const warnings: string[] = [];
    const controller = new BudgetController({ maxCost: 10, maxTokens: 10 }, (text) => {
      warnings.push(text);
      controller.record({ cost: 1, inputTokens: 1 });
    });

    controller.record({ cost: 8, inputTokens: 8 });

    expect(warnings.toSorted()).toEqual(["Cost at 80% of budget", "Tokens at 80% of budget"]);
    expect(controller.getUsage()).toMatchObject({ cost: 10, tokens: 10 });
  });
});

describe("a callback that throws", () => {
  test("does so after everything is recorded and every other warning given", () => {
    const warnings: string[] = [];
    const controller = new BudgetController({ maxCost: 1, maxTokens: 100 }, (text) => {
      warnings.push(text);
      if (text.startsWith("Tokens")) throw new Error("no");
    });

    expect(() => controller.record({ cost: 0.9, inputTokens: 90, iteration: true })).toThrow("no");

    expect(warnings.toSorted()).toEqual(["Cost at 90% of budget", "Tokens at 90% of budget"]);
    expect(controller.getUsage()).toMatchObject({ cost: 0.9, tokens: 90, iterations: 1 });
    controller.record({ cost: 0.05, inputTokens: 5 });
    expect(warnings).toHaveLength(2);
  });

  test("is not alone: several errors come together", () => {
    const controller = new BudgetController({ maxCost: 1, maxTokens: 100 }, (text) => {
      throw new Error(text);
    });

    const thrown = catchFrom(() => controller.record({ cost: 1, inputTokens: 100 }));

    expect(thrown).toBeInstanceOf(AggregateError);
    expect((thrown as AggregateError).errors.map(({ message }: Error) => message).toSorted()).toEqual([
      "Cost at 100% of budget",
      "Tokens at 100% of budget",
    ]);
    expect(controller.getUsage()).toMatchObject({ cost: 1, tokens: 100 });
  });

  test("in the parent does no harm to the child", () => {
    const parent = new BudgetController({ maxCost: 1 }, () => {
      throw new Error("no");
    });
    parent.record({ cost: 0.7 });
    const child = new BudgetController(parent.getSubBudget());

    expect(() => child.record({ cost: 0.15 })).toThrow("no");

    expect(child.getUsage().cost).toBe(0.15);
    expect(parent.getUsage().cost).toBe(0.85);
    child.end();
    expect(parent.getRemaining().cost).toBe(0.15);
  });

  test("while asked about time does not spoil the next answer", () => {
    const clock = new FakeClock();
    const thrower = () => {
      throw new Error("no");
    };
    const controller = new BudgetController({ maxTime: 100 }, thrower, { clock });
    clock.advance(80);

    expect(() => controller.canProceed("iteration")).toThrow("no");

    expect(controller.canProceed("iteration")).toBe(true);
  });
});

function catchFrom(run: () => void): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  return expect.unreachable("nothing was thrown");
}
