import { describe, expect, test } from "vitest";
import { findCommentedOutCode } from "./comments.js";
import { parse } from "./source.js";

describe("commented-out code is", () => {
  test.for([
    ["a call", "// a(b);"],
    ["a call after real code", "a(); // b(c);"],
    ["an assignment", "// a.b = c;"],
    ["a declaration", "// const a = 1;"],
    ["a return", "// return a;"],
    ["an await", "// await a;"],
    ["an import", '// import { a } from "./a.js";'],
    ["an export", "// export const a = 1;"],
    ["a block over several lines", "// if (a) {\n//   b();\n// }"],
    ["a line below a heading", "// As it was before:\n// a(b);"],
    ["a block comment", "/*\nfor (const a of b) {\n  c(a);\n}\n*/"],
  ] as const)("%s", ([, text]) => {
    expect(findCommentedOutCode(parse("a.ts", text))).toEqual(["a.ts:1 is commented-out code; delete it"]);
  });

  test.for([
    ["a sentence", "// Rounds up, once per call: a budget may be overcharged by a billionth, never undercharged."],
    ["a sentence with a semicolon", "// It waits; the others go on;"],
    ["a word", "// done;"],
    ["a shape", "// { kind, budget: id }"],
    ["a formula", "// used + reserved <= limit"],
    ["an example in a doc comment", "/**\n * ```ts\n * a(b);\n * ```\n */"],
    ["a string", 'const a = "// a(b);";'],
    ["a directive", "// biome-ignore lint/style/noNonNullAssertion: checked above"],
  ] as const)("not %s", ([, text]) => {
    expect(findCommentedOutCode(parse("a.ts", text))).toEqual([]);
  });
});
