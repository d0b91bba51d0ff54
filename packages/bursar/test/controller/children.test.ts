import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { BudgetController } from "../../src/controller/controller.js";
import { LedgerError } from "../../src/core/errors.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

describe("a sub-budget", () => {
  test("is a question: nothing is held, and the answer stays the same", () => {
    const parent = new BudgetController({ maxCost: 10 }, undefined, { clock: new FakeClock() });

    const first = parent.getSubBudget();

    expect(parent.getSubBudget()).toEqual(first);
    expect(parent.getRemaining().cost).toBe(10);
    expect(Object.isFrozen(first)).toBe(true);
    expect(Object.keys(first)).toEqual(["maxCost", "maxTokens", "maxTime", "maxDepth", "maxIterations"]);
  });

  test("leaves out what other children hold", () => {
    const parent = new BudgetController({ maxCost: 8 });
    new BudgetController(parent.getSubBudget());

    expect(parent.getSubBudget().maxCost).toBe(2);
  });

  test("attaches by identity: a copy is a budget of its own", () => {
    const parent = new BudgetController({ maxCost: 8 });

    const stranger = new BudgetController({ ...parent.getSubBudget() });
    stranger.record({ cost: 3 });

    expect(stranger.getRemaining().cost).toBe(1);
    expect(parent.getUsage().cost).toBe(0);
    expect(parent.getRemaining().cost).toBe(8);
  });

  test("that is copied warns once in a process that nothing is held for it, also where a limit of the copy was changed", () => {
    const source = `
      import { BudgetController } from "bursar/controller";
      const codes = [];
      process.on("warning", ({ code, message }) => codes.push(code + (message.includes("pass the object") ? "" : "?")));
      const parent = new BudgetController({ maxCost: 7.77 });
      new BudgetController(parent.getSubBudget());
      new BudgetController({ maxCost: 1, maxTime: 1000 });
      const other = new BudgetController({ maxCost: 7.77 }).getSubBudget();
      await new Promise(setImmediate);
      const before = [...codes];
      for (let round = 0; round < 2; round++) new BudgetController({ ...other, maxIterations: 3 });
      await new Promise(setImmediate);
      console.log(JSON.stringify({ before, after: codes }));`;
    const output = execFileSync(process.execPath, ["--input-type=module", "--eval", source], {
      cwd: import.meta.dirname,
      encoding: "utf8",
      stdio: "pipe",
    });

    expect(JSON.parse(output)).toEqual({ before: [], after: ["BURSAR_COPIED_SUB_BUDGET"] });
  });

  test("attached twice makes two children, the second clipped to what is left", () => {
    const parent = new BudgetController({ maxCost: 10, maxTokens: 100, maxIterations: 9 });
    const sub = parent.getSubBudget();
    parent.record({ cost: 2, inputTokens: 20, iteration: true });

    const children = [new BudgetController(sub), new BudgetController(sub)];

    expect(children.map((child) => child.getRemaining())).toMatchObject([
      { cost: 5, tokens: 50, iterations: 5 },
      { cost: 3, tokens: 30, iterations: 5 },
    ]);
    expect(parent.getRemaining()).toMatchObject({ cost: 0, tokens: 0, iterations: 8 });
  });

  test("of an ended controller cannot be had, nor attached", () => {
    const parent = new BudgetController();
    const sub = parent.getSubBudget();

    parent.end();

    expect(() => parent.getSubBudget()).toThrow(LedgerError);
    expect(() => new BudgetController(sub)).toThrow("controller 1 has ended; it takes no usage and no children");
  });
});

describe("a child", () => {
  test("gives the rest back when it ends, once", () => {
    const parent = new BudgetController({ maxCost: 10, maxTokens: 100, maxIterations: 10 });
    const child = new BudgetController(parent.getSubBudget());
    child.record({ cost: 2, inputTokens: 10, iteration: true });
    expect(parent.getRemaining()).toMatchObject({ cost: 5, tokens: 50 });

    child.end();
    child.end();

    expect(parent.getRemaining()).toMatchObject({ cost: 8, tokens: 90 });
    expect(parent.getUsage()).toMatchObject({ cost: 2, tokens: 10 });
  });

  test("ends with its block when it is declared with using", () => {
    const parent = new BudgetController({ maxCost: 10 });

    {
      using child = new BudgetController(parent.getSubBudget());
      child.record({ cost: 1 });
      expect(parent.getRemaining().cost).toBe(5);
    }

    expect(parent.getRemaining().cost).toBe(9);
  });

  test("that has ended takes nothing more and keeps its figures", () => {
    const clock = new FakeClock();
    const parent = new BudgetController({ maxCost: 10 }, undefined, { clock });
    const child = new BudgetController(parent.getSubBudget());
    clock.advance(100);
    child.record({ cost: 5, iteration: true });

    child.end();
    clock.advance(100);
    new BudgetController(parent.getSubBudget()).record({ cost: 1 });

    expect(child.canProceed("iteration")).toBe(false);
    expect(child.canProceed("subcall")).toBe(false);
    expect(() => child.record({ cost: 1 })).toThrow("controller 2 has ended; it takes no usage and no children");
    expect(child.getUsage()).toMatchObject({ cost: 5, duration: 100, iterations: 1 });
    expect(child.getRemaining()).toEqual({ cost: 0, tokens: 0, time: 0, depth: 0, iterations: 0 });
    expect(child.getBlockReason()).toBe("Cost budget exhausted");
    expect(parent.getUsage().cost).toBe(6);
  });

  test("that ended with room left has no reason to give", () => {
    const child = new BudgetController(new BudgetController().getSubBudget());

    child.end();

    expect(child.getBlockReason()).toBeNull();
    expect(child.canProceed("iteration")).toBe(false);
  });

  test("must end before its parent", () => {
    const parent = new BudgetController({ maxCost: 10 });
    const child = new BudgetController(parent.getSubBudget());

    expect(() => parent.end()).toThrow("controller 1 has 1 children that have not ended; end them first");

    parent.record({ cost: 1 });
    child.end();
    parent.end();
    expect(parent.getUsage().cost).toBe(1);
  });

  test("takes what it holds even when the parent has spent the rest", () => {
    const parent = new BudgetController({ maxCost: 10 });
    const child = new BudgetController(parent.getSubBudget());

    parent.record({ cost: 5 });

    expect(parent.canProceed("iteration")).toBe(false);
    expect(parent.getBlockReason()).toBe("Cost budget exhausted");
    expect(child.canProceed("iteration")).toBe(true);
    child.end();
    expect(parent.canProceed("iteration")).toBe(true);
    expect(parent.getBlockReason()).toBeNull();
  });

  test("that overdraws its hold overdraws its parent, visibly", () => {
    const parent = new BudgetController({ maxCost: 10 });
    const child = new BudgetController(parent.getSubBudget());

    child.record({ cost: 7 });

    expect(child.getRemaining().cost).toBe(0);
    expect(parent.getUsage().cost).toBe(7);
    expect(parent.getRemaining().cost).toBe(3);
  });

  test("has time of its own, which is not held and never outlasts its parent's", () => {
    const clock = new FakeClock();
    const parent = new BudgetController({ maxTime: 1_000 }, undefined, { clock });
    const sub = parent.getSubBudget();
    clock.advance(700);

    const child = new BudgetController(sub);

    expect(sub.maxTime).toBe(500);
    expect(child.getRemaining().time).toBe(300);
    expect(parent.getRemaining().time).toBe(300);
    clock.advance(300);
    expect(child.getUsage().duration).toBe(300);
    expect(child.getBlockReason()).toBe("Time budget exhausted");
  });

  test("has rounds of its own, however many children there are and whether they have ended", () => {
    const parent = new BudgetController({ maxTime: null });
    parent.record({ iteration: true });

    for (let round = 0; round < 2; round++) {
      const child = new BudgetController(parent.getSubBudget());
      let rounds = 0;
      while (child.canProceed("iteration")) {
        child.record({ iteration: true, cost: 0.01, inputTokens: 10 });
        rounds++;
      }
      expect([rounds, child.getBlockReason()]).toEqual([15, "Max iterations reached"]);
      expect(parent.getRemaining().iterations).toBe(29);
      if (round === 0) child.end();
    }

    expect(parent.getUsage()).toMatchObject({ cost: 0.3, tokens: 300, iterations: 1 });
    let own = 1;
    for (; parent.canProceed("iteration"); own++) parent.record({ iteration: true });
    expect([own, parent.getBlockReason()]).toEqual([30, "Max iterations reached"]);
  });

  test("works on when its parent has had its rounds, and on half of that parent's limit itself", () => {
    const parent = new BudgetController({ maxIterations: 5 });
    for (let round = 0; round < 5; round++) parent.record({ iteration: true });

    expect(parent.canProceed("iteration")).toBe(false);
    expect(parent.canProceed("subcall")).toBe(true);
    const child = new BudgetController(parent.getSubBudget());
    expect(child.getRemaining().iterations).toBe(3);
    expect(child.canProceed("iteration")).toBe(true);
    expect(new BudgetController(child.getSubBudget()).getRemaining().iterations).toBe(2);
  });

  test("has a depth of its own: levels below it, from its own calls on", () => {
    const root = new BudgetController({ maxDepth: 3 });
    const child = new BudgetController(root.getSubBudget());
    child.record({ subcall: true, depth: 2 });
    root.record({ subcall: true, depth: 1 });

    expect([root.getRemaining().depth, child.getRemaining().depth]).toEqual([3, 2]);
    expect([child.canProceed("subcall", 1), child.canProceed("subcall", 2)]).toEqual([true, false]);
    expect([root.canProceed("subcall", 2), root.canProceed("subcall", 3)]).toEqual([true, false]);
    expect(child.getUsage().maxDepthReached).toBe(2);
    expect(root.getUsage()).toMatchObject({ subcalls: 2, maxDepthReached: 1 });
  });

  test("of a child counts in all of them", () => {
    const root = new BudgetController({ maxCost: 8, maxDepth: 3 });
    const child = new BudgetController(root.getSubBudget());
    const grandchild = new BudgetController(child.getSubBudget());

    grandchild.record({ cost: 1, subcall: true, depth: 1 });

    expect(grandchild.getUsage()).toMatchObject({ cost: 1, subcalls: 1, maxDepthReached: 1 });
    expect(child.getUsage()).toMatchObject({ cost: 1, subcalls: 1, maxDepthReached: 0 });
    expect(root.getUsage()).toMatchObject({ cost: 1, subcalls: 1, maxDepthReached: 0 });
    expect([grandchild, child, root].map((each) => each.getRemaining().cost)).toEqual([1, 2, 4]);
  });

  test("runs on its parent's clock", () => {
    const clock = new FakeClock();
    const parent = new BudgetController({}, undefined, { clock });

    const child = new BudgetController(parent.getSubBudget(), undefined, { clock });
    clock.advance(5);

    expect(child.getUsage().duration).toBe(5);
    expect(() => new BudgetController(parent.getSubBudget(), undefined, { clock: new FakeClock() })).toThrow(
      "clock is not the parent's; leave it out, a child runs on its parent's clock",
    );
  });

  test("after child, each ended, adds up exactly", () => {
    const root = new BudgetController({ maxCost: 100, maxTime: null });

    for (let round = 0; round < 1_000; round++) {
      using child = new BudgetController(root.getSubBudget());
      child.record({ cost: 0.01, iteration: true });
    }

    expect(root.getUsage()).toMatchObject({ cost: 10, iterations: 0 });
    expect(root.getRemaining().cost).toBe(90);
  });
});

describe("a child of an exhausted parent", () => {
  test.each([
    [{ maxCost: 1 }, "Cost budget exhausted"],
    [{ maxTokens: 10 }, "Token budget exhausted"],
    [{ maxTime: 100 }, "Time budget exhausted"],
  ] as const)("has nothing, for the parent's reason: %o", (budget, reason) => {
    const clock = new FakeClock();
    const parent = new BudgetController(budget, undefined, { clock });
    parent.record({ cost: 1, inputTokens: 10 });
    clock.advance(100);

    const child = new BudgetController(parent.getSubBudget());

    expect(child.canProceed("iteration")).toBe(false);
    expect(child.canProceed("subcall")).toBe(false);
    expect(child.getBlockReason()).toBe(reason);
    expect(child.getRemaining()).toEqual({ cost: 0, tokens: 0, time: 0, depth: 0, iterations: 0 });
  });

  test("still counts in the parent and ends before it, children of its own too", () => {
    const heard: string[] = [];
    const parent = new BudgetController({ maxCost: 1, maxTokens: 100 }, (text) => heard.push(text));
    parent.record({ cost: 1 });
    const child = new BudgetController(parent.getSubBudget());
    const grandchild = new BudgetController(child.getSubBudget());

    grandchild.record({ cost: 0.5, inputTokens: 80, subcall: true, depth: 1 });

    expect(grandchild.getUsage()).toMatchObject({ cost: 0.5, tokens: 80, subcalls: 1, maxDepthReached: 1 });
    expect(child.getUsage()).toMatchObject({ cost: 0.5, tokens: 80, subcalls: 1, maxDepthReached: 0 });
    expect(parent.getUsage()).toMatchObject({ cost: 1.5, tokens: 80, subcalls: 1, maxDepthReached: 0 });
    expect(heard).toEqual(["Cost at 100% of budget", "Tokens at 80% of budget"]);
    expect(grandchild.getBlockReason()).toBe("Cost budget exhausted");
    expect(() => parent.end()).toThrow("controller 1 has 1 children that have not ended");
    grandchild.end();
    child.end();
    parent.end();
  });
});
