import { describe, expect, test } from "vitest";
import { outlookOf } from "../../src/views/outlook.js";
import type { BudgetView, DimensionView, ExpectedView } from "../../src/views/shapes.js";

const NOW = 1_000_000;

function view(dimension: string, amounts: Partial<DimensionView> = {}): DimensionView {
  const unit = dimension === "wall_clock_ms" ? "ms" : "USD";
  return {
    dimension,
    unit,
    used: 1,
    held: 0,
    limit: 10,
    policy: "hard_stop",
    thresholds: [50, 80],
    exhausted_at: null,
    ...amounts,
  };
}

function own(...dimensions: readonly DimensionView[]): BudgetView {
  return { budget: "r", owner: "run", dimensions };
}

function expected(dimension: string, median: number, upper: number): ExpectedView {
  return { dimension, unit: "", median, upper, source: "history" };
}

const BLANK = { now: NOW, expected: [], usage: {} };
const COST = view("cost_usd", { exhausted_at: NOW + 40_000 });
const STEPS = expected("steps", 25, 30);

describe("what lies before a run, in a sentence", () => {
  test("what is exhausted first, when, and how far the run has come", () => {
    const later = view("llm_tokens", { exhausted_at: NOW + 90_000 });
    const going = { ...BLANK, budgets: [own(later, COST)], usage: { steps: 17, wall_clock_ms: 100_000 } };
    expect(outlookOf({ ...going, expected: [STEPS] })).toBe(
      "at this rate cost_usd is exhausted in 40 s, step 17 of about 25",
    );
    expect(outlookOf(going)).toBe("at this rate cost_usd is exhausted in 40 s");
  });

  test("whose limit it is, when it is not the run's own", () => {
    const budgets: readonly BudgetView[] = [{ budget: "session:a", owner: "session", dimensions: [COST] }, own()];
    expect(outlookOf({ ...BLANK, budgets })).toBe("at this rate cost_usd of its session is exhausted in 40 s");
  });

  test("a limit that is not reached before the run is expected to end is not told of", () => {
    const budgets = [own(COST)];
    const usage = { steps: 20, wall_clock_ms: 20_000 };
    // Ten more steps at the most, a second each.
    expect(outlookOf({ ...BLANK, budgets, usage, expected: [STEPS] })).toBe("step 20 of about 25");
    // Whoever has passed what was expected may go on for any time.
    expect(outlookOf({ ...BLANK, budgets, usage: { ...usage, steps: 31 }, expected: [STEPS] })).toBe(
      "at this rate cost_usd is exhausted in 40 s, step 31, where up to 30 were expected",
    );
    const time = expected("wall_clock_ms", 20_000, 50_000);
    expect(outlookOf({ ...BLANK, budgets, usage, expected: [time] })).toBe(null);
    const longer = expected("wall_clock_ms", 20_000, 90_000);
    expect(outlookOf({ ...BLANK, budgets, usage, expected: [longer] })).toBe(
      "at this rate cost_usd is exhausted in 40 s",
    );
  });

  test("a clock says something when half of it is gone, or when it is known not to suffice", () => {
    const clock = (used: number) =>
      view("wall_clock_ms", { used, limit: 60_000, exhausted_at: NOW + 60_000 - used, policy: "hard_stop" });
    expect(outlookOf({ ...BLANK, budgets: [own(clock(5000))] })).toBe(null);
    expect(outlookOf({ ...BLANK, budgets: [own(clock(31_000))] })).toBe(
      "at this rate wall_clock_ms is exhausted in 29 s",
    );
    const usage = { wall_clock_ms: 5000 };
    const long = expected("wall_clock_ms", 80_000, 90_000);
    expect(outlookOf({ ...BLANK, budgets: [own(clock(5000))], usage, expected: [long] })).toBe(
      "at this rate wall_clock_ms is exhausted in 55 s",
    );
  });

  test("between what is usual and what is the most, the most is told", () => {
    const budgets = [own()];
    const at = (steps: number) => outlookOf({ ...BLANK, budgets, usage: { steps }, expected: [STEPS] });
    expect([at(0), at(1), at(26), at(31)]).toEqual([
      null,
      "step 1 of about 25",
      "step 26 of up to 30",
      "step 31, where up to 30 were expected",
    ]);
  });

  test("what is exhausted already is not in the future, and nothing else is said of it", () => {
    const over = view("cost_usd", { used: 10, exhausted_at: NOW - 1 });
    expect(outlookOf({ ...BLANK, budgets: [own(over, view("llm_tokens"))] })).toBe(null);
  });

  test.each([
    [300, "1 s"],
    [119_000, "119 s"],
    [120_000, "2 min"],
    [7_199_000, "120 min"],
    [7_200_000, "2 h"],
    [172_800_000, "2 days"],
  ])("%i ms are %s", (ms, text) => {
    const budgets = [own(view("cost_usd", { exhausted_at: NOW + ms }))];
    expect(outlookOf({ ...BLANK, budgets })).toBe(`at this rate cost_usd is exhausted in ${text}`);
  });
});
