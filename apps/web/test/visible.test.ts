import fc from "fast-check";
import { expect, test } from "vitest";
import { visibleRows } from "../src/pages/chain/visible.js";

const ROW = 36;
const count = (max: number) => fc.integer({ min: 0, max });

test("the rows in sight are there, and never more than a bound", () => {
  fc.assert(
    fc.property(count(1_000_000), count(4000), count(40_000_000), (total, height, scrolled) => {
      const { first, end } = visibleRows(scrolled, height, ROW, total);
      expect(first).toBeGreaterThanOrEqual(0);
      expect(end).toBeLessThanOrEqual(total);
      expect(end - first).toBeLessThanOrEqual(150);
      const top = Math.min(Math.floor(scrolled / ROW), total - 1);
      if (total > 0) {
        expect(first).toBeLessThanOrEqual(top);
        expect(end).toBeGreaterThanOrEqual(Math.min(total, top + Math.min(Math.ceil(height / ROW), 119)));
      }
    }),
  );
});
