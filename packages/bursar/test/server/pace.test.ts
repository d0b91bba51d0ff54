import { expect, test } from "vitest";
import { Pace } from "../../src/server/pace.js";
import { FakeClock } from "../../src/testing/clock/fake-clock.js";

test("so many at once, and so many a second in the long run, for each on his own", () => {
  const clock = new FakeClock();
  const pace = new Pace({ burst: 3, per_second: 2 }, clock);
  expect([1, 2, 3, 4].map(() => pace.take("ann"))).toEqual([0, 0, 0, 500]);
  expect(pace.take("ben")).toBe(0);
  clock.advance(499);
  expect(pace.take("ann")).toBeGreaterThan(0);
  clock.advance(1);
  expect([pace.take("ann"), pace.take("ann")]).toEqual([0, 500]);
  // However long he waits, he does not save more than the burst.
  clock.advance(3_600_000);
  expect([1, 2, 3, 4].map(() => pace.take("ann"))).toEqual([0, 0, 0, 500]);
  // Nor does a wall clock that is set give anything away.
  clock.jump(3_600_000);
  expect(pace.take("ann")).toBe(500);
});

test("those who come and go fill nothing, and who was here last is not forgotten first", () => {
  const pace = new Pace({ burst: 1, per_second: 1 }, new FakeClock());
  for (let each = 0; each < 50_000; each++) {
    pace.take(`stranger ${each}`);
    if (each % 1000 === 0) pace.take("regular");
  }
  expect(pace.take("regular")).toBeGreaterThan(0);
  const { kept } = pace as unknown as { readonly kept: ReadonlyMap<string, unknown> };
  expect(kept.size).toBeLessThanOrEqual(10_000);
});
