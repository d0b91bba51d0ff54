import { expect, test } from "vitest";
import { KeptLines } from "../../src/core/kept-lines.js";

const BLOCK_BYTES = 1024 * 1024;

test("lines come back as they were, wherever a block ends", () => {
  const kept = new KeptLines();
  const lines = Array.from({ length: 5000 }, (_, index) => `{"n":${index},"of":"${"x€😀é".repeat(index % 97)}"}`);

  const places = lines.map((line) => kept.add(line));

  expect(places.map((place) => kept.at(place))).toEqual(lines);
});

test("a line may be longer than a block, and a block may be filled to its end", () => {
  const kept = new KeptLines();
  const lengths = [0, 1, 4094, 4095, 4096, 4097, BLOCK_BYTES - 1, BLOCK_BYTES, 3 * BLOCK_BYTES];
  const lines = lengths.flatMap((length) => ["a".repeat(length), "€".repeat(length), "b"]);

  const places = lines.map((line) => kept.add(line));

  expect(places.every((place, index) => kept.at(place) === lines[index])).toBe(true);
});

test("a byte order mark stays where it is", () => {
  const kept = new KeptLines();

  expect(kept.at(kept.add("\uFEFF{}"))).toBe("\uFEFF{}");
});
