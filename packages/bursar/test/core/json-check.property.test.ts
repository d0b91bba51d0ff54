import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalizeAt, type Json } from "../../src/core/chain/canonical.js";
import { checkJson } from "../../src/core/chain/json-check.js";
import { MAX_DEPTH } from "../../src/core/chain/scan.js";

function outcomeOf(check: () => unknown): string {
  try {
    check();
    return "taken";
  } catch (error) {
    return String(error);
  }
}

const anything = fc.anything({
  withBigInt: true,
  withDate: true,
  withMap: true,
  withNullPrototype: true,
  withSparseArray: true,
  withTypedArray: true,
  key: fc.oneof(fc.string({ unit: "binary" }), fc.constant("\ud800")),
  values: [
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.boolean(),
    fc.constantFrom(null, undefined, "\udc00", -0, 1e21, Number.NaN, Infinity),
  ],
});

test("takes what canonical JSON can be written of, and names the same part of all else", () => {
  fc.assert(
    fc.property(anything, (value) => {
      const [body, field] = [{ value }, "body"];
      expect(outcomeOf(() => checkJson(body, field, 1))).toBe(outcomeOf(() => canonicalizeAt(body as Json, field, 1)));
    }),
    { numRuns: 2000 },
  );
});

test("stops at the same depth, and in circles", () => {
  for (let depth = MAX_DEPTH - 5; depth < MAX_DEPTH + 5; depth++) {
    let body: object = {};
    for (let level = 0; level < depth; level++) body = level % 2 === 0 ? [body] : { body };
    expect(outcomeOf(() => checkJson(body, "body", 1))).toBe(outcomeOf(() => canonicalizeAt(body as Json, "body", 1)));
  }
  const round: Record<string, unknown> = {};
  round.round = round;
  expect(outcomeOf(() => checkJson(round, "body", 1))).toMatch(/cyclic/);
});
