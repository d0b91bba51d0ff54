import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Outputs } from "../../../src/models/reservations/outputs.js";

function outputsOf(count: number, tokens: (at: number) => number): Outputs {
  const outputs = new Outputs();
  for (let at = 0; at < count; at++) outputs.add(tokens(at), false);
  return outputs;
}

describe("what 99 of 100 answers do not pass", () => {
  test("is not known from nineteen of them", () => {
    expect(outputsOf(19, () => 300).upper).toBeNull();
    expect(outputsOf(20, () => 300).upper).toBe(600);
  });

  test("is the longest of a hundred, with half of it on top", () => {
    expect(outputsOf(100, (at) => at + 1).upper).toBe(150);
  });

  test("is not moved by one that is far longer than all others", () => {
    expect(outputsOf(256, (at) => (at === 100 ? 4000 : 300)).upper).toBe(450);
    expect(outputsOf(256, (at) => (at === 100 || at === 200 ? 4000 : 300)).upper).toBe(6000);
  });

  test("takes an answer that was cut off for one that would have been longer", () => {
    const outputs = outputsOf(256, () => 300);
    for (let at = 0; at < 2; at++) outputs.add(450, true);
    expect(outputs.upper).toBe(Math.ceil(450 * 1.5 * 1.5));
  });

  test("forgets what is long ago", () => {
    const outputs = outputsOf(256, () => 3000);
    for (let at = 0; at < 256; at++) outputs.add(300, false);
    expect(outputs.upper).toBe(450);
    expect(outputs.figures).toEqual(Array.from({ length: 256 }, () => 300));
  });

  test("is the same when it was written down and read again", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 5000 }), fc.boolean()), { maxLength: 700 }), (all) => {
        const outputs = new Outputs();
        for (const [tokens, cut] of all) outputs.add(tokens, cut);
        const again = new Outputs(outputs.figures);
        expect(again.figures).toEqual(outputs.figures);
        expect(again.figures).toEqual(all.slice(-256).map(([tokens, cut]) => (cut ? -tokens : tokens)));
        // What is forgotten is noticed a few answers later; what is longer at once.
        const [known, anew] = [outputs.upper ?? 0, again.upper ?? 0];
        expect(known).toBeGreaterThanOrEqual(anew);
      }),
    );
  });
});
