import fc from "fast-check";
import { expect, test } from "vitest";
import { isDeeper } from "../../../src/models/wire/text-depth.js";

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

test("the depth of a text is that of what it says, whatever its strings hold", () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 0, max: 8 }), (value, levels) => {
      expect(isDeeper(JSON.stringify(value), levels)).toBe(depthOf(value) > levels);
    }),
  );
});

test.each([
  ['"[[[["', false],
  ['["\\"[[[["]', false],
  ['["\\\\", [[]]]', true],
  ['["unended', false],
  ["[".repeat(1_000_000), true],
])("%.20s", (text, deeper) => {
  expect(isDeeper(text, 2)).toBe(deeper);
});
