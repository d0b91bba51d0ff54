import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { boundOf, type Figure } from "../../src/foresight/bound.js";
import type { Prediction } from "../../src/ports/foresight.js";
import { randomOf } from "../stores/seeds.js";
import { normal } from "./normal.js";

const SHAPES: Readonly<Record<string, (next: () => number) => number>> = {
  "about the same": (next) => 10_000 * (1 + 0.05 * normal(next)),
  "over orders of magnitude": (next) => 1000 * Math.exp(normal(next)),
  "two kinds of work": (next) => (next() < 0.3 ? 50_000 : 2000) * (1 + 0.1 * normal(next)),
  "a heavy tail": (next) => 500 * (1 - next()) ** (-1 / 1.5),
  "evenly spread": (next) => 100 + 900 * next(),
};

const TRIES = 4000;

/** In how many of many made-up histories the next run does not pass its bound. */
function coverage(draw: (next: () => number) => number, count: number): number {
  let covered = 0;
  for (let seed = 1; seed <= TRIES; seed++) {
    const next = randomOf(seed * 7919 + count);
    const figures = Array.from({ length: count }, (): Figure => ({ value: Math.max(0, draw(next)), cut: false }));
    if (Math.max(0, draw(next)) <= (boundOf(figures) as Prediction).upper) covered++;
  }
  return covered / TRIES;
}

describe("what 95 of 100 runs do not pass", () => {
  for (const [shape, draw] of Object.entries(SHAPES)) {
    it.each([10, 15, 30, 200])(`covers 90 to 99 % after %i runs of a program whose figures are ${shape}`, (count) => {
      const share = coverage(draw, count);
      expect(share).toBeGreaterThanOrEqual(0.9);
      expect(share).toBeLessThanOrEqual(0.99);
    });
  }

  it.each(Object.entries(SHAPES))("is careful after five runs whose figures are %s", (_, draw) => {
    expect(coverage(draw, 5)).toBeGreaterThanOrEqual(0.9);
  });

  it("is wide after one run", () => {
    const { median, upper } = boundOf([{ value: 1000, cut: false }]) as Prediction;
    expect(median).toBe(1000);
    expect(upper).toBeGreaterThan(3000);
  });

  it("stays within reach after a few runs, also when some of them took nothing", () => {
    const past = (...values: number[]) => boundOf(values.map((value) => ({ value, cut: false }))) as Prediction;
    expect(past(0, 4e7, 16e7, 16e7, 16e7).upper).toBeLessThan(16e8);
    expect(past(0, 0, 5).upper).toBeLessThan(50);
    expect(past(1, 10, 1000).upper).toBe(10_000);
    expect(past(0, 0, 0).upper).toBe(0);
  });

  it("is nothing without a run", () => {
    expect(boundOf([])).toBeNull();
  });

  it("is never below what most runs have taken, nor below the median", () => {
    const figures = fc.array(fc.record({ value: fc.nat(1e12), cut: fc.boolean() }), { minLength: 1, maxLength: 300 });
    fc.assert(
      fc.property(figures, (past) => {
        const { median, upper } = boundOf(past) as Prediction;
        expect(upper).toBeGreaterThanOrEqual(median);
        expect(past.filter(({ value }) => value > upper).length / past.length).toBeLessThanOrEqual(0.05);
      }),
    );
  });

  it("takes runs that were cut off for what is larger: so early that they say nothing, they change nothing", () => {
    const figures = Array.from({ length: 100 }, (_, at): Figure => ({ value: 1000 + at, cut: false }));
    const cut = Array.from({ length: 50 }, (_, at): Figure => ({ value: at, cut: true }));
    const calm = boundOf(figures) as Prediction;
    const { median, upper } = boundOf([...figures, ...cut]) as Prediction;
    expect(Math.abs(median - calm.median)).toBeLessThanOrEqual(2);
    expect(Math.abs(upper - calm.upper)).toBeLessThanOrEqual(2);
  });

  it("covers what runs would have taken when a third of them was cut off somewhere on the way", () => {
    let covered = 0;
    for (let seed = 1; seed <= TRIES; seed++) {
      const next = randomOf(seed);
      const draw = () => 1000 * Math.exp(0.5 * normal(next));
      const figures = Array.from({ length: 60 }, (): Figure => {
        const value = draw();
        return next() < 1 / 3 ? { value: value * next(), cut: true } : { value, cut: false };
      });
      if (draw() <= (boundOf(figures) as Prediction).upper) covered++;
    }
    expect(covered / TRIES).toBeGreaterThanOrEqual(0.9);
    expect(covered / TRIES).toBeLessThanOrEqual(0.99);
  });

  it("is beyond what was seen when every run was stopped by its limit", () => {
    const figures = Array.from({ length: 30 }, (): Figure => ({ value: 500, cut: true }));
    expect(boundOf(figures)).toEqual({ median: 750, upper: 750 });
  });

  it.each([1, 2, 5, 10, 15, 40])("of %i runs that took nothing is nothing", (count) => {
    const none = Array.from({ length: count }, (): Figure => ({ value: 0, cut: false }));
    expect(boundOf(none)).toEqual({ median: 0, upper: 0 });
  });

  it("is not moved by one run that went astray among many", () => {
    const figures = Array.from({ length: 100 }, (_, at): Figure => ({ value: 1000 + at, cut: false }));
    const calm = boundOf(figures) as Prediction;
    const astray = boundOf([...figures, { value: 1e12, cut: false }]) as Prediction;
    expect(astray.upper).toBeLessThanOrEqual(calm.upper + 2);
  });
});
