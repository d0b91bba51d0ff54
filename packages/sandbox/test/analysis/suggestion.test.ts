import fc from "fast-check";
import { expect, test } from "vitest";
import { scenario } from "../../../../specs/scenario.js";
import { type Factor, suggestBudget } from "../../src/analysis/suggestion.js";
import { B } from "./spec-table.js";

const factor = fc.constantFrom<Factor>(1.5, 2);

scenario("000/safety-margin-recommendations", () => {
  expect([suggestBudget(8 * B, 1.5), suggestBudget(8 * B, 2)]).toEqual([15 * B, 20 * B]);
  expect([suggestBudget(15 * B, 1.5), suggestBudget(15 * B, 2)]).toEqual([25 * B, 30 * B]);
});

scenario("000/safety-margin-recommendations", "for any consumption, between 1.5 and 2.5 times of it", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), factor, (consumed, times) => {
      const suggested = BigInt(suggestBudget(consumed, times));

      expect(suggested * 2n >= BigInt(consumed) * 3n).toBe(true);
      expect(suggested * 2n <= BigInt(consumed) * 5n).toBe(true);
    }),
  );
});

test("a suggestion is a round number: two digits and zeros", () => {
  fc.assert(
    fc.property(fc.maxSafeNat(), factor, (consumed, times) => {
      expect(String(BigInt(suggestBudget(consumed, times)))).toMatch(/^\d\d?0*$/);
    }),
  );
});

test("small numbers, all of them", () => {
  for (let consumed = 1; consumed <= 2_000; consumed++) {
    for (const times of [1.5, 2] as const) {
      const suggested = suggestBudget(consumed, times);
      expect(suggested).toBeGreaterThanOrEqual(consumed * times);
      expect(suggested).toBeLessThanOrEqual(consumed * 2.5);
    }
  }
});

test.for([
  [8.5 * B, 1.5, 15 * B],
  [9.7 * B, 2, 20 * B],
  [15 * B, 1.5, 25 * B],
  [0.8 * B, 1.5, 1.5 * B],
  [5.005 * B, 2, 11 * B],
  [0, 2, 0],
] as const)("%d times %d is suggested as %d", ([consumed, times, suggested]) => {
  expect(suggestBudget(consumed, times)).toBe(suggested);
});
