import fc from "fast-check";
import { expect, test } from "vitest";
import { writeFuel, writeNumeral, writeRange } from "../../src/analysis/fuel-amount.js";
import { B, M } from "./spec-table.js";

test.for([
  [15 * B, "15B"],
  [750 * M, "750M"],
  [6.5 * B, "6.5B"],
  [12.75 * B, "12.75B"],
  [995 * M, "995M"],
  [999_994_999, "999.99M"],
  [999_999_999, "1B"],
  [1_500 * B, "1500B"],
  [2_500, "2.5K"],
  [999, "999"],
  [0, "0"],
] as const)("%d is written %s", ([fuel, written]) => {
  expect(writeFuel(fuel)).toBe(written);
});

test("what is written is what was meant, to a hundredth of its unit", () => {
  const units: Record<string, number> = { B, M, K: 1_000, "": 1 };
  fc.assert(
    fc.property(fc.maxSafeNat(), (fuel) => {
      const [, digits = "", letter = ""] = /^([\d.]+)([BMK]?)$/.exec(writeFuel(fuel)) ?? [];
      const unit = units[letter] ?? Number.NaN;

      expect(Math.abs(Number(digits) * unit - fuel)).toBeLessThanOrEqual(unit * 0.005 + fuel * 1e-15);
      expect(letter === "B" || Number(digits) < 1_000).toBe(true);
    }),
  );
});

test.for([
  [{ least: 5 * B, most: 7 * B }, "5-7B"],
  [{ least: 2 * B, most: 2 * B }, "2B"],
  [{ least: 750 * M, most: 1.2 * B }, "750M-1.2B"],
] as const)("%j is written %s", ([range, written]) => {
  expect(writeRange(range)).toBe(written);
});

test.for([
  [20 * B, "20_000_000_000"],
  [100 * M, "100_000_000"],
  [7, "7"],
] as const)("%d as Python reads it: %s", ([value, written]) => {
  expect(writeNumeral(value)).toBe(written);
});
