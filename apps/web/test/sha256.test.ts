import { createHash } from "node:crypto";
import fc from "fast-check";
import { expect, test } from "vitest";
import { sha256Hex } from "../src/pages/chain/sha256.js";

const expected = (text: string) => createHash("sha256").update(text).digest("hex");

test("it is SHA-256, for any text", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 400 }), (text) => {
      expect(sha256Hex(text)).toBe(expected(text));
    }),
  );
});

test("it is SHA-256 at every length around the end of a block", () => {
  for (let length = 0; length <= 260; length++) {
    const text = "a".repeat(length);
    expect(sha256Hex(text)).toBe(expected(text));
  }
});
