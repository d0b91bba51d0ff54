import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_AMOUNT } from "../../src/core/amount.js";
import { fractionOf, fromDecimal, percentOf, printDecimal, printUsd, toDecimal, usd } from "../../src/core/decimal.js";
import { InputError } from "../../src/core/errors.js";

describe("money", () => {
  test("ten times a tenth of a dollar is one dollar", () => {
    const tenth = usd(0.1);
    const sum = Array.from({ length: 10 }, () => tenth).reduce((total, each) => total + each, 0);

    expect(sum).toBe(1_000_000_000);
    expect(toDecimal(sum, 9)).toBe(1);
    expect(printUsd(sum)).toBe("$1.00");
  });

  test("charges round up once, limits round down, and nothing is lost on the way", () => {
    expect(usd(0.0000000001)).toBe(1);
    expect(usd(0.1 + 0.2)).toBe(300_000_001);
    expect(usd(0.1 + 0.2, "down")).toBe(300_000_000);
    expect(usd(1e-9)).toBe(1);
    expect(usd(9_000_000)).toBe(9_000_000_000_000_000);
  });

  test("a limit too small to count is refused rather than turned into none", () => {
    expect(() => fromDecimal(1e-10, 9, "down", "limits.cost_usd")).toThrow("smaller than the smallest unit");
  });

  test("prints dollars as people write them", () => {
    expect([0, 500_000_000, 15_000, 1, 1_234_567_890_123].map(printUsd)).toEqual([
      "$0.00",
      "$0.50",
      "$0.000015",
      "$0.000000001",
      "$1234.567890123",
    ]);
    expect(printUsd(-250_000_000)).toBe("-$0.25");
  });

  test("every amount survives printing and reading again", () => {
    const whole = fc.integer({ min: 0, max: 999_999_999_999_999 });
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 9 }), (amount, decimals) => {
        expect(fromDecimal(Number(printDecimal(amount, decimals)), decimals, "down", "x")).toBe(amount);
        expect(fromDecimal(toDecimal(amount, decimals), decimals, "up", "x")).toBe(amount);
      }),
    );
  });

  test("any double is read as it is written, rounded as it was asked", () => {
    const doubles = fc.oneof(
      fc.double({ min: 1e-9, max: 9e6, noNaN: true }),
      fc.integer({ min: 1, max: 9_000_000_000 }).map((units) => units / 1e9 + Number.EPSILON),
      fc.integer({ min: 1, max: 9_000_000 }).map((units) => units / 1e3),
    );
    fc.assert(
      fc.property(doubles, fc.constantFrom("up" as const, "down" as const), (value, rounding) => {
        const [mantissa = "", exponent = "0"] = String(value).split("e");
        const [whole = "", fraction = ""] = mantissa.split(".");
        const shift = 9 + Number(exponent) - fraction.length;
        const digits = BigInt(whole + fraction);
        const divisor = 10n ** BigInt(Math.max(0, -shift));
        const exact = digits * 10n ** BigInt(Math.max(0, shift));
        expect(fromDecimal(value, 9, rounding, "x")).toBe(
          Number((exact + (rounding === "up" ? divisor - 1n : 0n)) / divisor),
        );
      }),
      { numRuns: 5_000 },
    );
  });

  test("a sum of decimals is exact, whatever doubles make of it", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 10_000 }), { maxLength: 50 }), (cents) => {
        const nano = cents.map((each) => usd(each / 100)).reduce((sum, each) => sum + each, 0);
        expect(nano).toBe(cents.reduce((sum, each) => sum + each, 0) * 10_000_000);
      }),
    );
  });
});

describe("shares and percentages", () => {
  test("a fraction is taken as written", () => {
    expect(fractionOf(100, 0.29)).toBe(29);
    expect(fractionOf(7, 0.5)).toBe(3);
    expect(fractionOf(MAX_AMOUNT, 1)).toBe(MAX_AMOUNT);
    expect(fractionOf(MAX_AMOUNT, 0.1)).toBe(900_000_000_000_000);
  });

  test("a percentage is exact where a double product would round", () => {
    expect(percentOf(MAX_AMOUNT, 80)).toBe(7_200_000_000_000_000);
    expect(percentOf(MAX_AMOUNT - 1, 80)).toBe(7_200_000_000_000_000);
    expect(percentOf(3, 50)).toBe(2);
    expect(percentOf(1000, 12.5)).toBe(125);
  });
});

describe("bad input", () => {
  test.each([Number.NaN, Number.POSITIVE_INFINITY, -1, -0.1, 9_000_000.1, "1", null, undefined, {}, [], true, 1n])(
    "%s is refused by name",
    (value) => {
      expect(() => fromDecimal(value, 9, "up", "limits.cost_usd")).toThrow(InputError);
      expect(() => fromDecimal(value, 9, "up", "limits.cost_usd")).toThrow(
        /^limits\.cost_usd is .*; allowed: a number from 0 to 9000000$/,
      );
    },
  );

  test("a fraction of a whole unit is refused", () => {
    expect(() => fromDecimal(1.5, 0, "up", "steps")).toThrow("steps is 1.5; allowed: a whole number");
  });

  test("minus zero is zero", () => {
    expect(Object.is(fromDecimal(-0, 0, "up", "steps"), 0)).toBe(true);
  });
});
