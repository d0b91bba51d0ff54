import fc from "fast-check";
import { expect, test } from "vitest";
import { KeyScrubber, ScrubbedBody } from "../../../src/models/wire/key-scrubber.js";

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

/** A key as it may be written: each character as it is, or escaped in some way. */
function spelt(key: string): fc.Arbitrary<string> {
  const ways = [...key].map((each) => {
    const hex = each.charCodeAt(0).toString(16);
    const escapes = [`\\u00${hex}`, `\\u00${hex.toUpperCase()}`, `\\\\u00${hex}`, `%${hex}`, `%25${hex}`, `&#x${hex};`];
    const entity = `&amp;#${each.charCodeAt(0)};`;
    return fc.oneof(
      { weight: 4, arbitrary: fc.constant(each) },
      fc.constantFrom(...escapes, entity, each.toUpperCase()),
    );
  });
  return fc.tuple(...ways).map((parts) => parts.join(""));
}

test("no key is left however its characters are escaped, wherever that is cut, and no more than it is masked", () => {
  const around = fc.constantFrom("", "s", "sk-aa", "\\", "%", "&#", "100 % of \\n", "x &amp; y", "%73%6b-aab");
  const scrubber = new KeyScrubber(KEY);
  const escapes = /\\|%|&/;
  fc.assert(
    fc.property(around, spelt(KEY), around, fc.array(fc.nat(20), { maxLength: 20 }), (before, form, after, cuts) => {
      fc.pre(escapes.test(form));
      const text = Buffer.from(`${before}|${form}|${after}\n`);
      const expected = `${before}|${"*".repeat(form.length)}|${after}\n`;
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
    }),
    { numRuns: 3000 },
  );
});

test("what is escaped is passed on as it is where it is no key, and looked at in time that grows with its length", () => {
  const scrubber = new KeyScrubber(KEY);
  for (const piece of ["\\", "%", "&#", "&amp;", "\\u00", "%25", "\\u0073k-", "100%\n", "&#x73;", "%73"]) {
    const text = Buffer.from(piece.repeat(200_000 / piece.length));
    expect(scrubber.mask(text)).toBe(text);
    const body = new ScrubbedBody(scrubber);
    const passed = body.push(text);
    expect(text.length - passed.length).toBeLessThan(1000);
    expect(Buffer.concat([passed, body.end() ?? Buffer.alloc(0)]).equals(text)).toBe(true);
  }
});
