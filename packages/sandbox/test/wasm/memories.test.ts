import fc from "fast-check";
import { expect, test } from "vitest";
import { Memories } from "../../src/wasm/memories.js";
import { differing } from "../../src/wasm/pages.js";

const WASM_PAGE = 65_536;
const SIZE = 3;

/** An image with something in it here and there. */
function imageOf() {
  const base = new Uint8Array(SIZE * WASM_PAGE);
  for (const at of [0, 5000, WASM_PAGE - 1, WASM_PAGE + 7, 3 * WASM_PAGE - 1]) base[at] = 1 + (at % 250);
  return { base, image: differing(base) };
}

test("a memory that is used again is the image, byte for byte, whatever was written into it", () => {
  const { base, image } = imageOf();
  const memories = new Memories(base, image, 10);
  const writes = fc.array(fc.tuple(fc.nat(SIZE * WASM_PAGE - 1), fc.integer({ min: 0, max: 255 }), fc.nat(9000)), {
    maxLength: 20,
  });
  fc.assert(
    fc.property(writes, (list) => {
      const memory = memories.take();
      expect(Buffer.compare(new Uint8Array(memory.buffer), base)).toBe(0);
      const bytes = new Uint8Array(memory.buffer);
      for (const [at, value, length] of list) bytes.fill(value, at, at + length);
      memories.give(memory);
      expect(memories.take()).toBe(memory);
      expect(Buffer.compare(new Uint8Array(memory.buffer), base)).toBe(0);
      memories.give(memory);
    }),
    { numRuns: 200 },
  );
});

test("a memory that has grown is not used again, and one that was given twice is used once", () => {
  const { base, image } = imageOf();
  const memories = new Memories(base, image, 10);
  const grown = memories.take();
  grown.grow(1);
  memories.give(grown);
  const other = memories.take();
  expect(other).not.toBe(grown);
  memories.give(other);
  memories.give(other);
  expect(memories.take()).toBe(other);
  expect(memories.take()).not.toBe(other);
});
