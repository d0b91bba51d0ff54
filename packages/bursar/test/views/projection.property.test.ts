import fc from "fast-check";
import { expect, test } from "vitest";
import { type Charge, exhaustionAt, ratesOf, runningTime, type Span } from "../../src/views/projection.js";

/** Steady use: so much, every so many milliseconds. */
function steady(count: number, every_ms: number, amount: number, from = 0): Charge[] {
  return Array.from({ length: count }, (_, index) => ({
    at: from + (index + 1) * every_ms,
    amounts: { llm_tokens: amount },
  }));
}

/** The same, with a pause put in after some of the time. */
function withPause(charges: readonly Charge[], at: number, pause_ms: number): readonly Charge[] {
  return charges.map((charge) => (charge.at > at ? { ...charge, at: charge.at + pause_ms } : charge));
}

const course = fc.record({
  count: fc.integer({ min: 8, max: 60 }),
  every_ms: fc.integer({ min: 200, max: 20_000 }),
  amount: fc.integer({ min: 1, max: 5000 }),
});

test("steady use goes on as it does", () => {
  fc.assert(
    fc.property(course, fc.integer({ min: 1, max: 50 }), ({ count, every_ms, amount }, more) => {
      const now = count * every_ms;
      const rates = ratesOf({ charges: steady(count, every_ms, amount), spans: [{ from: 0, to: null }], now });
      const at = exhaustionAt(more * amount, "llm_tokens", rates, now) ?? Number.NaN;
      // A call more or less at the edge of a quarter is all the doubt there is.
      const doubt = 1 + 4 / (count - 4);
      expect(at - now).toBeGreaterThan((more * every_ms) / doubt - 1);
      expect(at - now).toBeLessThan(more * every_ms * doubt + 1);
    }),
  );
});

test("a pause changes nothing, however long it was", () => {
  const pause = fc.record({ after: fc.double({ min: 0, max: 1, noNaN: true }), ms: fc.integer({ min: 1, max: 1e9 }) });
  fc.assert(
    fc.property(course, pause, ({ count, every_ms, amount }, { after, ms }) => {
      const now = count * every_ms;
      const at = Math.floor(after * now);
      const charges = steady(count, every_ms, amount);
      const whole = ratesOf({ charges, spans: [{ from: 0, to: null }], now });
      const spans: Span[] = [
        { from: 0, to: at },
        { from: at + ms, to: null },
      ];
      const split = ratesOf({ charges: withPause(charges, at, ms), spans, now: now + ms });
      expect(split.running_ms).toBe(whole.running_ms);
      expect(split.per_ms.llm_tokens).toBeCloseTo(whole.per_ms.llm_tokens ?? Number.NaN, 9);
    }),
  );
});

test("the longer nothing is used, the farther the end is away, until it is out of sight", () => {
  fc.assert(
    fc.property(course, fc.integer({ min: 1, max: 1e6 }), fc.integer({ min: 1, max: 1e6 }), (each, first, more) => {
      const { count, every_ms, amount } = each;
      const charges = steady(count, every_ms, amount);
      const after = (ms: number) => ratesOf({ charges, spans: [{ from: 0, to: null }], now: count * every_ms + ms });
      const rate = (ms: number) => after(ms).per_ms.llm_tokens ?? 0;
      expect(rate(first + more)).toBeLessThanOrEqual(rate(first) + 1e-12);
      const still = 4 * count * every_ms + first;
      expect(rate(still)).toBe(0);
      expect(exhaustionAt(1, "llm_tokens", after(still), 0)).toBe(null);
    }),
  );
});

test("one large call at the end is not taken for the rule", () => {
  fc.assert(
    fc.property(course, fc.integer({ min: 100, max: 10_000 }), ({ count, every_ms, amount }, times) => {
      const charges = steady(count, every_ms, amount);
      const now = count * every_ms;
      const spike: Charge = { at: now, amounts: { llm_tokens: times * amount } };
      const { per_ms } = ratesOf({ charges: [...charges, spike], spans: [{ from: 0, to: null }], now });
      // The rate over the last quarter alone would be twice as high.
      const lastQuarter = (times * amount) / (now / 4);
      expect(per_ms.llm_tokens).toBeLessThan(0.7 * lastQuarter);
    }),
  );
});

test("whatever happened, the end is not before now, and there is none where nothing is used", () => {
  const charge = fc.record({
    at: fc.integer({ min: -1000, max: 200_000 }),
    amounts: fc.dictionary(fc.constantFrom("llm_tokens", "cost_usd"), fc.integer({ min: -100, max: 1000 })),
  });
  const span = fc.record({ from: fc.integer({ min: 0, max: 100_000 }), to: fc.integer({ min: 0, max: 100_000 }) });
  fc.assert(
    fc.property(fc.array(charge, { maxLength: 50 }), fc.array(span, { maxLength: 6 }), (charges, spans) => {
      const ordered = spans.toSorted((a, b) => a.from - b.from);
      const now = 100_000;
      const rates = ratesOf({ charges, spans: ordered, now });
      expect(rates.running_ms).toBeGreaterThanOrEqual(0);
      for (const rate of Object.values(rates.per_ms)) expect(rate).toBeGreaterThanOrEqual(0);
      for (const dimension of ["llm_tokens", "cost_usd", "steps"]) {
        const at = exhaustionAt(5, dimension, rates, now);
        if (at !== null) expect(at).toBeGreaterThanOrEqual(now);
        if (charges.every(({ amounts }) => amounts[dimension] === undefined)) expect(at).toBe(null);
      }
    }),
  );
});

test("too little says nothing: one charge, or less than a second", () => {
  const spans = [{ from: 0, to: null }];
  expect(ratesOf({ charges: steady(1, 5000, 10), spans, now: 60_000 }).per_ms).toEqual({});
  expect(ratesOf({ charges: steady(9, 100, 10), spans, now: 999 }).per_ms).toEqual({});
  expect(ratesOf({ charges: steady(9, 100, 10), spans, now: 1000 }).per_ms.llm_tokens).toBeGreaterThan(0);
});

test("what is a hundred times farther away than it has run is not in sight", () => {
  const rates = { running_ms: 1000, per_ms: { steps: 0.001 } };
  expect(exhaustionAt(100, "steps", rates, 5)).toBe(100_005);
  expect(exhaustionAt(101, "steps", rates, 5)).toBe(null);
  expect(exhaustionAt(-1, "steps", rates, 5)).toBe(5);
});

test("running time counts what lies in spans", () => {
  const spans = [
    { from: 10, to: 20 },
    { from: 50, to: null },
  ];
  expect([5, 15, 30, 50, 57].map((at) => runningTime(spans, at))).toEqual([0, 5, 10, 10, 17]);
});
