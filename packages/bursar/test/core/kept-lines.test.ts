import { expect, test } from "vitest";
import { KeptLines } from "../../src/core/kept-lines.js";

const BLOCK_LENGTH = 160 * 1024;

test("lines come back as they were, wherever a block ends", () => {
  const kept = new KeptLines();
  const lines = Array.from({ length: 5000 }, (_, index) => `{"n":${index},"of":"${"x€😀é".repeat(index % 97)}"}`);

  const places = lines.map((line) => kept.add(line));

  expect(places.map((place) => kept.at(place))).toEqual(lines);
});

test("a line may be empty, fill a block, or be longer than one", () => {
  const kept = new KeptLines();
  const lengths = [0, 1, BLOCK_LENGTH - 2, BLOCK_LENGTH - 1, BLOCK_LENGTH, 3 * BLOCK_LENGTH];
  const lines = lengths.flatMap((length) => ["a".repeat(length), "€".repeat(length), "b"]);

  const places = lines.map((line) => kept.add(line));

  expect(places.every((place, index) => kept.at(place) === lines[index])).toBe(true);
});

test("what was read before others were added is still there", () => {
  const kept = new KeptLines();
  const lines = Array.from({ length: 50 }, (_, index) => `line ${index}`);

  const places: number[] = [];
  for (const line of lines) {
    places.push(kept.add(line));
    if (places.length % 7 === 0) expect(places.map((place) => kept.at(place))).toEqual(lines.slice(0, places.length));
  }

  expect(places.map((place) => kept.at(place))).toEqual(lines);
});
