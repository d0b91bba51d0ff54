import { expect, test } from "vitest";
import { newName } from "../../src/runtime/names.js";

test("names are unique, of version 7, and sort by time", () => {
  const instants = [0, 1, 255, Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1) + 1, Date.UTC(9999, 0, 1)];
  const names = instants.map(newName);
  expect(names.toSorted()).toEqual(names);
  for (const name of names)
    expect(name).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(new Set(Array.from({ length: 10_000 }, () => newName(5))).size).toBe(10_000);
});
