import { expect, test } from "vitest";
import { hintFor } from "../src/api/hint.js";

test("whoever looks at the page is told of pages, and of no address of the API", () => {
  expect(hintFor("no_such_run", "GET /api/v1/runs lists those there are")).toBe("The page Runs shows those there are.");
  expect(hintFor("input", "correct label; /openapi.json tells what is taken")).toBe("correct label");
  expect(hintFor("later", "POST /api/v1/later does it")).toBe("");
  expect(hintFor("forbidden", "ask somebody; or wait")).toBe("ask somebody; or wait");
});
