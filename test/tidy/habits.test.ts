import { describe, expect, test } from "vitest";
import { findForbiddenSyntax, findMockedModules, findSilencedTests, findUnfinished } from "./habits.js";
import { parse } from "./source.js";

describe("forbidden syntax is", () => {
  test.for([
    ["any", "\nlet a: any;", "a.ts:2 says any"],
    ["any, inside another type", "const a = b as ReadonlyMap<string, any[]>;", "a.ts:1 says any"],
    ["an enum", "enum A { B }", "a.ts:1 declares an enum"],
    ["a constant enum", "const enum A { B }", "a.ts:1 declares an enum"],
    ["a default export", "export default 1;", "a.ts:1 exports a default"],
    ["a default export in disguise", "const a = 1; export { a as default };", "a.ts:1 exports a default"],
    ["an export of everything", 'export * from "./b.js";', "a.ts:1 exports everything"],
    ["an export of everything under a name", 'export * as b from "./b.js";', "a.ts:1 exports everything"],
  ] as const)("%s", ([, text, complaint]) => {
    expect(findForbiddenSyntax(parse("a.ts", text))).toEqual([expect.stringContaining(complaint)]);
  });

  test("not the word any, a named export, or the default of a configuration", () => {
    expect(findForbiddenSyntax(parse("a.ts", 'export const any = "any"; export type { B } from "./b.js";'))).toEqual(
      [],
    );
    expect(findForbiddenSyntax(parse("vitest.config.ts", "export default {};"))).toEqual([]);
  });
});

test.for(["// TODO later", "/* FIXME */", "/** XXX */", "a(); // HACK: b"])("unfinished is %s", (text) => {
  expect(findUnfinished(parse("a.ts", text))).toEqual([expect.stringMatching(/^a\.ts:1 says [A-Z]+; do it now/)]);
});

test.for(['const a = "TODO";', "// todos are a kind of list", "const TODO = 1;"])("unfinished is not %s", (text) => {
  expect(findUnfinished(parse("a.ts", text))).toEqual([]);
});

describe("a silenced test is", () => {
  test.for([
    'test.skip("a", () => {});',
    'it.only("a", () => {});',
    'describe.concurrent.skip("a", () => {});',
    'test.only.for([1])("a", () => {});',
    'test.skipIf(slow)("a", () => {});',
    'test.todo("a");',
    'scenario["skip"]("a", () => {});',
    'test("a", { skip: true }, () => {});',
    'test("a", { "only": true }, () => {});',
    'xit("a", () => {});',
    'fdescribe("a", () => {});',
  ])("%s", (text) => {
    expect(findSilencedTests(parse("a.test.ts", text))).toEqual([expect.stringMatching(/^a\.test\.ts:1 has /)]);
  });

  test.for([
    'test("skip", () => {});',
    'test.for([{ skip: 1 }])("a", () => {});',
    "reader.skip(4);",
    'test("a", { timeout: 1 }, () => {});',
    'const text = "test.skip()";',
  ])("not %s", (text) => {
    expect(findSilencedTests(parse("a.test.ts", text))).toEqual([]);
  });
});

describe("a mocked module is", () => {
  test.for(["'../src/a.js'", "'bursar'", "'bursar/prompt'", "'@bursar/sandbox'", "import('./a.js')"])("%s", (name) => {
    for (const call of ["vi.mock", "vi.doMock"]) {
      expect(findMockedModules(parse("a.test.ts", `${call}(${name}, () => ({}));`))).toEqual([
        expect.stringMatching(/^a\.test\.ts:1 mocks /),
      ]);
    }
  });

  test.for(["vi.mock('node:fs');", "vi.fn();", "other.mock('./a.js');"])("not %s", (text) => {
    expect(findMockedModules(parse("a.test.ts", text))).toEqual([]);
  });
});
