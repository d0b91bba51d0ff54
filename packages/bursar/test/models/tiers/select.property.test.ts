import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Amounts } from "../../../src/core/amount.js";
import { expectedCalls } from "../../../src/models/tiers/expected-calls.js";
import { type Candidate, type Selection, type Standing, select } from "../../../src/models/tiers/select.js";

const HYSTERESIS = { calls: 3, margin: 0.25 };

function candidate(cost: number | null, mean: number | null = null): Candidate {
  return { quote: cost === null ? null : ({ cost_usd: cost } as unknown as Amounts), mean };
}

/** One moment of a run: what is left, how many calls are expected, and which tiers can take the call. */
const MOMENT = fc.record({
  left: fc.integer({ min: 0, max: 2000 }),
  calls: fc.integer({ min: 1, max: 50 }),
  quotes: fc.array(fc.option(fc.integer({ min: 0, max: 1000 }), { freq: 6 }), { minLength: 3, maxLength: 3 }),
  means: fc.array(fc.option(fc.integer({ min: 0, max: 200 })), { minLength: 3, maxLength: 3 }),
});

/** Plays a history, and gives what was chosen at each moment. */
function play(moments: readonly (typeof MOMENT extends fc.Arbitrary<infer Moment> ? Moment : never)[]) {
  let standing: Standing | null = null;
  const chosen: (Selection | null)[] = [];
  for (const { left, calls, quotes, means } of moments) {
    const candidates = quotes.map((quote, index) => candidate(quote, means[index] ?? null));
    const selection: Selection | null = select({
      candidates,
      left: { cost_usd: left },
      calls,
      standing,
      hysteresis: HYSTERESIS,
    });
    standing = selection?.standing ?? standing;
    chosen.push(selection);
  }
  return chosen;
}

describe("whatever happens", () => {
  test("it goes up no more often than the logarithm of the calls, and down no more than each time all the way", () => {
    fc.assert(
      fc.property(fc.array(MOMENT, { minLength: 1, maxLength: 400 }), (moments) => {
        const standings = play(moments).flatMap((selection) => (selection === null ? [] : [selection.standing.tier]));
        let [ups, downs] = [0, 0];
        standings.forEach((tier, index) => {
          const before = standings[index - 1] ?? tier;
          if (tier < before) ups++;
          if (tier > before) downs++;
        });
        expect(ups).toBeLessThanOrEqual(Math.log2(moments.length / HYSTERESIS.calls + 1));
        expect(downs).toBeLessThanOrEqual(2 * (ups + 1));
      }),
    );
  });

  test("what is chosen can take the call, and fits unless nothing does", () => {
    fc.assert(
      fc.property(fc.array(MOMENT, { minLength: 1, maxLength: 100 }), (moments) => {
        play(moments).forEach((selection, index) => {
          const { quotes, left, calls, means } = moments[index] as (typeof moments)[number];
          if (selection === null) {
            expect(quotes.every((quote) => quote === null)).toBe(true);
            return;
          }
          const fits = quotes.map((quote, tier) => {
            const rest = (means[tier] ?? 0) * calls;
            return quote !== null && (quote === 0 || quote <= left) && rest <= left;
          });
          expect(quotes[selection.tier]).not.toBeNull();
          if (selection.reason === "none_fits") expect(fits.some(Boolean)).toBe(false);
          else expect(fits[selection.tier]).toBe(true);
        });
      }),
    );
  });

  test("the same history is decided the same", () => {
    fc.assert(
      fc.property(fc.array(MOMENT, { maxLength: 50 }), (moments) => {
        expect(play(moments)).toEqual(play(moments));
      }),
    );
  });
});

describe("one decision", () => {
  const TIERS = [candidate(400, 100), candidate(100, 25), candidate(25, 6)];
  const at = (left: number, calls: number, standing: Standing | null) =>
    select({ candidates: TIERS, left: { cost_usd: left }, calls, standing, hysteresis: HYSTERESIS });

  test.each([
    ["the best that fits", 500, 1, null, 0, "first"],
    ["the next, when the quote does not fit", 399, 1, null, 1, "first"],
    ["the next, when the rest would not fit", 900, 10, { tier: 0, calls: 9, ups: 0 }, 1, "rest_too_large"],
    ["two down at once", 450, 20, { tier: 0, calls: 9, ups: 0 }, 2, "rest_too_large"],
    ["down for its quote", 150, 1, { tier: 0, calls: 9, ups: 0 }, 1, "quote_too_large"],
    ["not up before its time", 5000, 1, { tier: 1, calls: 2, ups: 0 }, 1, "stays"],
    ["up after it", 5000, 1, { tier: 1, calls: 3, ups: 0 }, 0, "room_again"],
    ["not up without a margin", 450, 1, { tier: 1, calls: 9, ups: 0 }, 1, "stays"],
    ["later up the second time", 5000, 1, { tier: 1, calls: 5, ups: 1 }, 1, "stays"],
    ["the floor when none fits", 5, 1, { tier: 1, calls: 9, ups: 0 }, 2, "none_fits"],
  ] as const)("%s", (_, left, calls, standing, tier, reason) => {
    expect(at(left, calls, standing)).toMatchObject({ tier, reason });
  });

  test("a dimension without a limit is no reason to go down", () => {
    const free = select({ candidates: TIERS, left: {}, calls: 1000, standing: null, hysteresis: HYSTERESIS });
    expect(free).toMatchObject({ tier: 0, reason: "first" });
  });
});

describe("how many calls are to come", () => {
  test.each([
    ["only this one, when nobody knows anything", { calls: 0, steps: 0, expected: null, left: 50 }, 1],
    ["as many as there were", { calls: 8, steps: 12, expected: null, left: 50 }, 8],
    ["no more than steps are left", { calls: 8, steps: 12, expected: null, left: 3 }, 3],
    ["what is expected, before the first", { calls: 0, steps: 0, expected: { median: 20, upper: 40 }, left: 50 }, 20],
    [
      "half of it, when half of the steps are tools",
      { calls: 5, steps: 10, expected: { median: 20, upper: 40 }, left: 50 },
      5,
    ],
    [
      "a long run, once it has passed its median",
      { calls: 20, steps: 20, expected: { median: 20, upper: 40 }, left: 50 },
      20,
    ],
    ["this one at least", { calls: 50, steps: 50, expected: { median: 20, upper: 40 }, left: 50 }, 1],
  ] as const)("%s", (_, progress, calls) => {
    expect(expectedCalls(progress)).toBe(calls);
  });
});
