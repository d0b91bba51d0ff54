import { describe, expect, test } from "vitest";
import { findLongFiles, findLongFunctions } from "./size.js";
import { parse } from "./source.js";

const lines = (count: number) => "a();\n".repeat(count);

describe("too long is", () => {
  test("a file of 401 lines, and not one of 400", () => {
    expect(findLongFiles(parse("a.ts", lines(400)))).toEqual([]);
    expect(findLongFiles(parse("a.ts", lines(401)))).toEqual([expect.stringContaining("goes on to line 401")]);
  });

  test.for([
    ["a function", (body: string) => `function b() {\n${body}}`],
    ["an arrow", (body: string) => `const b = () => {\n${body}};`],
    ["a method", (body: string) => `class B { b() {\n${body}} }`],
    ["a constructor", (body: string) => `class B { constructor() {\n${body}} }`],
    ["a test", (body: string) => `describe("b", () => test("c", () => {\n${body}}));`],
    ["a callback", (body: string) => `[].forEach(function () {\n${body}});`],
  ] as const)("%s of 61 lines, and not one of 60", ([, wrap]) => {
    expect(findLongFunctions(parse("a.ts", wrap(lines(58))))).toEqual([]);
    expect(findLongFunctions(parse("a.ts", wrap(lines(59))))).toEqual([
      expect.stringMatching(/^a\.ts:1 is a function of 61 lines/),
    ]);
  });

  test.for(["describe('b'", "describe.for([1])('b'", "describe.concurrent('b'"])("not %s: a group of tests", (call) => {
    expect(findLongFunctions(parse("a.ts", `${call}, () => {\n${lines(100)}});`))).toEqual([]);
  });
});
