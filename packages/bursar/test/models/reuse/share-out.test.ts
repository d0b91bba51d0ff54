import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { shareOut } from "../../../src/models/reuse/share-out.js";

describe("a whole is shared out", () => {
  test.each<readonly [number, readonly (readonly [number, number])[], readonly number[]]>([
    [
      10,
      [
        [1, 10],
        [1, 10],
        [1, 10],
      ],
      [4, 3, 3],
    ],
    [
      10,
      [
        [1, 99],
        [2, 99],
        [7, 99],
      ],
      [1, 2, 7],
    ],
    [
      3,
      [
        [5, 9],
        [5, 9],
        [5, 9],
        [5, 9],
      ],
      [1, 1, 1, 0],
    ],
    // Whoever has held less than his weight would bring leaves the rest to those who hold enough.
    [
      100,
      [
        [50, 10],
        [50, 500],
      ],
      [10, 90],
    ],
    // All together have held too little: the truth is told all the same.
    [
      100,
      [
        [50, 10],
        [50, 10],
      ],
      [50, 50],
    ],
    [
      5,
      [
        [0, 9],
        [0, 9],
      ],
      [3, 2],
    ],
    [0, [[1, 9]], [0]],
  ])("%i among %j", (total, sharers, parts) => {
    expect(
      shareOut(
        total,
        sharers.map(([weight, most]) => ({ weight, most })),
      ),
    ).toEqual(parts);
  });

  test("it adds up exactly, and nobody gets more than was held for him if that is enough", () => {
    const sharer = fc.record({ weight: fc.nat(1_000_000), most: fc.nat(1_000_000) });
    fc.assert(
      fc.property(
        fc.array(sharer, { minLength: 1, maxLength: 50 }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        (all, part) => {
          const room = all.reduce((sum, { most }) => sum + most, 0);
          const total = Math.floor(room * part);
          const parts = shareOut(total, all);
          expect(parts.reduce((sum, each) => sum + each, 0)).toBe(total);
          for (const [index, each] of parts.entries()) {
            expect(each).toBeGreaterThanOrEqual(0);
            expect(each).toBeLessThanOrEqual(all[index]?.most ?? 0);
          }
        },
      ),
    );
  });

  test("where nobody is held to anything, nobody is further off than one", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 10_000 }), { minLength: 1, maxLength: 50 }),
        fc.nat(100_000),
        (weights, total) => {
          const sum = weights.reduce((all, each) => all + each, 0);
          const parts = shareOut(
            total,
            weights.map((weight) => ({ weight, most: total })),
          );
          for (const [index, each] of parts.entries()) {
            expect(Math.abs(each - (total * (weights[index] ?? 0)) / sum)).toBeLessThan(1);
          }
        },
      ),
    );
  });
});
