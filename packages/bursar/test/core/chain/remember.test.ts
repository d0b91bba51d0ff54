import { expect, test } from "vitest";
import { remember } from "../../../src/core/chain/remember.js";

test("a function is asked once for each key, and no more is remembered than there is room for", () => {
  const asked: string[] = [];
  const upper = remember((key) => {
    asked.push(key);
    return key.toUpperCase();
  });

  expect([upper("a"), upper("b"), upper("a")]).toEqual(["A", "B", "A"]);
  expect(asked).toEqual(["a", "b"]);

  for (let index = 0; index < 1024; index++) upper(`key-${index}`);
  expect(upper("a")).toBe("A");
  expect(asked.filter((key) => key === "a").length).toBe(2);

  const long = "x".repeat(1000);
  expect([upper(long), upper(long)]).toEqual([long.toUpperCase(), long.toUpperCase()]);
  expect(asked.filter((key) => key === long).length).toBe(2);
});
