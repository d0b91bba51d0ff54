import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyScrubber, ScrubbedBody } from "../../src/gateway/key-scrubber.js";

const KEY = "sk-aab/aabaab+x";
const HEX = Buffer.from(KEY).toString("hex");

test("no key is left in any text, however it is cut, and nothing else is changed", () => {
  // Letters of the key, beginnings of it and whole ones, so that much is nearly a key.
  const part = fc.oneof(
    fc.constantFrom(KEY, HEX, KEY.slice(0, 5), KEY.slice(3), HEX.slice(0, 9), "\n\n", "s", "sk-", "aab", "*"),
    fc.string({ maxLength: 5 }),
  );
  const scrubber = new KeyScrubber(KEY);
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), fc.array(fc.nat(40), { maxLength: 20 }), (parts, cuts) => {
      const text = Buffer.from(`${parts.join("")}\n`);
      const expected = text
        .toString("latin1")
        .replaceAll(HEX, "*".repeat(HEX.length))
        .replaceAll(KEY, "*".repeat(KEY.length));
      expect(scrubber.mask(text).toString("latin1")).toBe(expected);
      const body = new ScrubbedBody(scrubber);
      const pieces: Buffer[] = [];
      let from = 0;
      for (const cut of [...cuts, text.length]) {
        pieces.push(body.push(text.subarray(from, from + cut)));
        from = Math.min(text.length, from + cut);
      }
      pieces.push(body.end() ?? Buffer.alloc(0));
      expect(Buffer.concat(pieces).toString("latin1")).toBe(expected);
      expect(body.isMasked).toBe(expected !== text.toString("latin1"));
    }),
    { numRuns: 2000 },
  );
});
