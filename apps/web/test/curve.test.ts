import type { BurnDown } from "bursar/views";
import { describe, expect, test } from "vitest";
import { curveOf } from "../src/pages/run/curve.js";

const view: BurnDown = {
  dimension: "cost_usd",
  unit: "USD",
  used: 6,
  held: 0,
  limit: 10,
  policy: "hard_stop",
  thresholds: [50, 80],
  exhausted_at: null,
  points: [
    { at: 1000, used: 0, limit: 8 },
    { at: 1400, used: 4, limit: 8 },
    { at: 1800, used: 6, limit: 10 },
  ],
};

describe("what is left over time", () => {
  test("falls with every charge, rises with an extension, and goes on to the end", () => {
    const { times, remaining, thresholds, end } = curveOf(view, 1000, 2000);

    expect(times).toEqual([0, 400, 800, 1000]);
    expect(remaining).toEqual([8, 4, 4, 4]);
    expect(thresholds).toEqual([
      [4, 4, 5, 5],
      [expect.closeTo(1.6), expect.closeTo(1.6), 2, 2],
    ]);
    expect(end).toBe(1000);
  });

  test("ends at nothing when the end is near enough to be shown", () => {
    const { times, projected, end } = curveOf({ ...view, exhausted_at: 2500 }, 1000, 2000);

    expect(end).toBe(1500);
    expect(times.at(-1)).toBe(1500);
    expect(projected).toEqual([null, null, null, 4, 0]);
  });

  test("shows only the beginning of what takes much longer than the run so far", () => {
    const { projected, end } = curveOf({ ...view, exhausted_at: 12_000 }, 1000, 2000);

    expect(end).toBe(2000);
    expect(projected.at(-1)).toBeCloseTo(3.6);
  });

  test("has no end in sight when nothing is left already", () => {
    const spent = { ...view, used: 10, exhausted_at: 2500, points: [{ at: 1000, used: 10, limit: 10 }] };

    expect(curveOf(spent, 1000, 2000).projected).toEqual([null, null]);
  });

  test("leaves out the time in which a run stood still", () => {
    const waiting = { ...view, points: [...view.points, { at: 90_000, used: 6, limit: 10 }] };

    expect(curveOf(waiting, 1000, 2000).end).toBe(1000);
  });

  test("is empty when nothing is known", () => {
    expect(curveOf({ ...view, points: [] }, 1000, 2000).times).toEqual([]);
  });
});
