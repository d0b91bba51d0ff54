import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Form } from "../../src/plans/edn/form.js";
import { print } from "../../src/plans/edn/print.js";
import { readForms } from "../../src/plans/edn/reader.js";
import { PlanError } from "../../src/plans/plan-error.js";
import { Source } from "../../src/plans/source.js";

function read(text: string): readonly Form[] {
  return readForms(new Source("a.rtfs", text));
}

function refusal(text: string): PlanError {
  try {
    read(text);
  } catch (error) {
    if (error instanceof PlanError) return error;
    throw error;
  }
  throw new Error(`was read: ${text.slice(0, 100)}`);
}

describe("the reader", () => {
  test("knows where everything stands", () => {
    expect(read('(a "é😀" :k\n  [1.5 \\b])')).toEqual([
      {
        kind: "list",
        line: 1,
        column: 1,
        items: [
          { kind: "symbol", name: "a", line: 1, column: 2 },
          { kind: "text", value: "é😀", line: 1, column: 4 },
          { kind: "keyword", name: "k", line: 1, column: 9 },
          {
            kind: "vector",
            line: 2,
            column: 3,
            items: [
              { kind: "number", value: 1.5, line: 2, column: 4 },
              { kind: "character", value: "b", line: 2, column: 8 },
            ],
          },
        ],
      },
    ]);
  });

  test.for([
    ["", []],
    [" ,\t\r\n; nothing", []],
    ["#_ a b", ["b"]],
    ["#_ #_ a b c", ["c"]],
    ["[#_1]", ["[]"]],
    ["\ufeff1", ["1"]],
    ["+1 -1 0 1.5 -2e3 1E-2 1e+2", ["1", "-1", "0", "1.5", "-2000", "0.01", "100"]],
    ["+ - / -a +a .a a/b <= a.b *x* % &", ["+", "-", "/", "-a", "+a", ".a", "a/b", "<=", "a.b", "*x*", "%", "&"]],
    [":a :a/b :a-b_c? :+ :a#b", [":a", ":a/b", ":a-b_c?", ":+", ":a#b"]],
    ["nil true false nilly", ["nil", "true", "false", "nilly"]],
    ["\\a \\( \\newline \\u0041 \\\\ \\😀", ["\\a", "\\(", "\\newline", "\\A", "\\\\", "\\😀"]],
    ['"a\\tb\\\\\\"\\u00e9\\ud83d\\ude00" "a\nb"', ['"a\\tb\\\\\\"é😀"', '"a\\nb"']],
    ["#{1 [2] {:a 1}} {:a 1, :b {}}", ["#{1 [2] {:a 1}}", "{:a 1 :b {}}"]],
    ["((())())[]", ["((()) ())", "[]"]],
  ] as const)("reads %j", ([text, printed]) => {
    expect(read(text).map(print)).toEqual(printed);
  });

  test.for([
    ["(", "1:1", "( is never closed"],
    ["(a\n [b", "2:2", "[ is never closed"],
    ["(a]", "1:3", "] where ) should close the ( at 1:1"],
    ["a)", "1:2", ") closes nothing"],
    ["}", "1:1", "} closes nothing"],
    ["{:a}", "1:2", "the key :a has no value"],
    ["{:a 1 :a 2}", "1:7", "the key :a was given at 1:2 already"],
    ["{[1 2] 1 [1,2] 2}", "1:10", "the key [1 2] was given at 1:2 already"],
    ["#{1 2 1}", "1:7", "the element 1 was given at 1:3 already"],
    ['#inst "2024"', "1:1", "the tag #inst is not known"],
    ["#foo/bar []", "1:1", "the tag #foo/bar is not known"],
    ["#", "1:1", "the tag # is not known"],
    ["#(+ % 1)", "1:1", "#( means nothing here; write (fn [x] …)"],
    ['#"a"', "1:1", '#" means nothing here'],
    ["##NaN", "1:1", "## means nothing here; numbers are finite"],
    ["'a", "1:1", "' means nothing here"],
    ["don't", "1:4", "' means nothing here"],
    ["`a", "1:1", "` means nothing here"],
    ["^:a b", "1:1", "^ means nothing here"],
    ["@a", "1:1", "@ means nothing here"],
    ["[#_]", "1:2", "#_ crosses out nothing"],
    ["#_", "1:1", "#_ crosses out nothing"],
    ['"abc', "1:1", "this text is never closed"],
    ['"a\\', "1:3", "\\ stands for nothing"],
    ['"a\\x"', "1:3", "\\x stands for nothing"],
    ['"\\u12g4"', "1:2", "\\u12 stands for nothing"],
    ['"\\ud800"', "1:1", "this text holds half a character"],
    ["\\", "1:1", "a backslash with no character"],
    ["\\ab", "1:1", "\\ab is not a character"],
    ["\\ud800", "1:1", "\\ud800 is half a character"],
    ["1a", "1:1", "1a is not a number"],
    ["01", "1:1", "01 is not a number; leave out the zeros in front"],
    ["1.", "1:1", "1. is not a number; write 1.0"],
    ["1_000", "1:1", "1_000 is not a number; write 1000"],
    ["0x1F", "1:1", "0x1F is not a number"],
    ["1/2", "1:1", "1/2 is not a number; write (/ 1 2)"],
    ["1N 1.5M", "1:1", "1N is not a number; write 1: there is one kind"],
    ["1e999", "1:1", "1e999 is too large"],
    ["1e-999", "1:1", "1e-999 is too small"],
    ["9007199254740992", "1:1", "9007199254740992 is too large to be exact"],
    ["a/b/c", "1:1", "a/b/c is not a name; a name has at most one slash"],
    ["a/ /b", "1:1", "a/ is not a name"],
    ["größe", "1:1", "größe is not a name"],
    [".5", "1:1", ".5 is not a name"],
    [":", "1:1", ": is not a keyword"],
    ["::a", "1:1", "::a is not a keyword; one colon is enough"],
    [":1", "1:1", ":1 is not a keyword"],
    [":a/b/c", "1:1", ":a/b/c is not a keyword"],
    ['a"b"', "1:1", 'a"b" is not a name'],
    ["a\\b", "1:1", "a\\b is not a name"],
    ["(a \u0007)", "1:4", "a character that nobody can see (\\u0007)"],
    ['"a\u202eb"', "1:3", "a character that nobody can see (\\u202e)"],
    ["; \u2066 x", "1:3", "a character that nobody can see (\\u2066)"],
    ["\ud800", "1:1", "half a character"],
    ["\u00a0", "1:1", "\u00a0 is not a name"],
  ] as const)("refuses %j", ([text, place, problem]) => {
    const error = refusal(text);

    expect(`${error.line}:${error.column}`).toBe(place);
    expect(error.message).toContain(`a.rtfs:${place} ${problem}`);
    expect(error).toMatchObject({ code: "invalid_plan", file: "a.rtfs", name: "PlanError" });
  });

  test("shows the line and a caret below the place, whatever stands there", () => {
    expect(refusal("(a\n\t[1 2x]\n)").message).toBe(
      "a.rtfs:2:5 2x is not a number; numbers look like 42, -7, 0.5 or 1e6; a name cannot begin with a digit\n" +
        "  2 |  [1 2x]\n" +
        "    |     ^",
    );
    const [, line = "", caret = ""] = refusal(`${"a ".repeat(500)}2x ${"b ".repeat(500)}`).message.split("\n");
    expect(line.slice(caret.indexOf("^"))).toMatch(/^2x /);
    expect(line.length).toBeLessThan(120);
    expect(refusal("\u001b[31m").message).not.toContain("\u001b");
  });

  test.for([
    ["(".repeat(200_000), "nested more than 100 deep"],
    ["[".repeat(101) + "]".repeat(101), "nested more than 100 deep"],
    ["{".repeat(200_000), "nested more than 100 deep"],
    ["#{".repeat(100_000), "nested more than 100 deep"],
    ["#_".repeat(100_000), "nested more than 100 deep"],
    ["1 ".repeat(60_000), "more than 50000 forms"],
    [" ".repeat(300_000), "the text has 300000 characters; at most 262144 are read"],
    [`a${"b".repeat(1000)}`, "names have at most 200 characters"],
  ] as const)("has bounds", ([text, problem]) => {
    expect(refusal(text).message).toContain(problem);
  });

  test("reads what is just within them", () => {
    expect(read("[".repeat(100) + "]".repeat(100))).toHaveLength(1);
    expect(read("1 ".repeat(50_000))).toHaveLength(50_000);
    expect(read(`"${"x".repeat(262_142)}"`)).toHaveLength(1);
  });
});

const PIECES = ["(", ")", "[", "]", "{", "}", "#{", "#_", '"', "\\", ";", "\n", " ", ",", ":", "/", "#", "'", "^", "@"];

describe("any text", () => {
  const anyText = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.string({ unit: "grapheme", maxLength: 60 }),
    fc
      .array(fc.oneof(fc.constantFrom(...PIECES), fc.constantFrom("a", "1", "-", "nil", "u0041", "e9", ".")), {
        maxLength: 60,
      })
      .map((parts) => parts.join("")),
  );

  test("is read, or refused at a place within it", () => {
    fc.assert(
      fc.property(anyText, (text) => {
        try {
          read(text);
        } catch (error) {
          if (!(error instanceof PlanError)) throw error;
          const lines = text.split("\n");
          expect(error.line).toBeLessThanOrEqual(lines.length);
          expect(error.column).toBeLessThanOrEqual((lines[error.line - 1] ?? "").length + 1);
          expect(error.column).toBeGreaterThan(0);
        }
      }),
      { numRuns: 3000 },
    );
  });
});

const place = { line: 0, column: 0 };
const name = fc
  .stringMatching(/^[a-z*!_?$%&=<>][a-z0-9.*+!_?-]{0,8}$/)
  .filter((each) => !["nil", "true", "false"].includes(each));
const text = fc.string({ unit: "binary", maxLength: 12 }).filter((each) => !/\p{Cs}/u.test(each));
const { form } = fc.letrec<{ form: Form; leaf: Form }>((tie) => ({
  leaf: fc.oneof(
    fc.constant<Form>({ kind: "nil", ...place }),
    fc.boolean().map((value): Form => ({ kind: "boolean", value, ...place })),
    fc
      .oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true }))
      .map((value): Form => ({ kind: "number", value: value + 0, ...place })),
    text.map((value): Form => ({ kind: "text", value, ...place })),
    fc
      .string({ unit: "binary", minLength: 1, maxLength: 1 })
      .filter((each) => [...each].length === 1 && !/\p{Cs}/u.test(each))
      .map((value): Form => ({ kind: "character", value, ...place })),
    name.map((each): Form => ({ kind: "keyword", name: each, ...place })),
    name.map((each): Form => ({ kind: "symbol", name: each, ...place })),
  ),
  form: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    tie("leaf"),
    fc
      .tuple(fc.constantFrom("list" as const, "vector" as const), fc.array(tie("form"), { maxLength: 5 }))
      .map(([kind, items]): Form => ({ kind, items, ...place })),
    fc
      .uniqueArray(tie("form"), { maxLength: 4, selector: print })
      .map((items): Form => ({ kind: "set", items, ...place })),
    fc
      .uniqueArray(fc.tuple(tie("form"), tie("form")), { maxLength: 4, selector: ([key]) => print(key) })
      .map((entries): Form => ({ kind: "map", entries, ...place })),
  ),
}));

test("a comma is a character too, though it is a blank elsewhere", () => {
  expect(read("[\\, \\a]").map(print)).toEqual(["[\\, \\a]"]);
});

test("what is printed reads as the same", () => {
  fc.assert(
    fc.property(form, (each) => {
      const [again, further] = read(print(each));

      expect(further).toBeUndefined();
      expect(withoutPlaces(again as Form)).toEqual(withoutPlaces(each));
    }),
    { numRuns: 2000 },
  );
});

function withoutPlaces(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (key, inner) => (key === "line" || key === "column" ? undefined : inner)));
}
