import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalize, isCanonical, type Json } from "../../../src/core/chain/canonical.js";
import { CanonicalError } from "../../../src/core/chain/canonical-error.js";
import { json } from "./arbitraries.js";

/** What `isCanonical` has to agree with, said in the simplest way. */
function isCanonicalByDefinition(text: string): boolean {
  try {
    return canonicalize(JSON.parse(text)) === text;
  } catch {
    return false;
  }
}

function double(bits: string): number {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
}

function nested(depth: number): Json {
  let value: Json = [];
  for (let level = 1; level < depth; level++) value = [value];
  return value;
}

describe("canonicalize: RFC 8785", () => {
  test.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["8000000000000001", "-5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["ffefffffffffffff", "-1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["c340000000000000", "-9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["44b52d02c7e14af7", "1.0000000000000001e+23"],
    ["444b1ae4d6e2ef4e", "999999999999999700000"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555553", "333333333.3333332"],
    ["41b3de4355555554", "333333333.33333325"],
    ["41b3de4355555555", "333333333.3333333"],
    ["41b3de4355555556", "333333333.3333334"],
    ["41b3de4355555557", "333333333.33333343"],
    ["becbf647612f3696", "-0.0000033333333333333333"],
    ["43143ff3c1cb0959", "1424953923781206.2"],
  ])("the double %s is written %s", (bits, text) => {
    expect(canonicalize(double(bits))).toBe(text);
    expect(isCanonical(text)).toBe(true);
  });

  test("its example of literals, numbers and strings", () => {
    const value: Json = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`);

    expect(canonicalize(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        String.raw`"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  test("its example of sorting by UTF-16 code units", () => {
    const text = canonicalize({
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    });

    expect(Object.values(JSON.parse(text)).length).toBe(7);
    expect(text.match(/[A-Z][a-zA-Z: ]+/g)).toEqual([
      "Carriage Return",
      "One",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ]);
    expect(isCanonical(text)).toBe(true);
  });

  test("only what must be escaped is escaped, in its shortest form", () => {
    expect(canonicalize('\u0000\b\t\n\u000b\f\r\u001f"\\/\u007f\u2028é')).toBe(
      '"\\u0000\\b\\t\\n\\u000b\\f\\r\\u001f\\"\\\\/\u007f\u2028é"',
    );
  });

  test("keys that look like numbers or like the prototype are keys like any other", () => {
    const value: Json = JSON.parse('{"__proto__":1,"10":2,"9":3,"constructor":4}');

    expect(canonicalize(value)).toBe('{"10":2,"9":3,"__proto__":1,"constructor":4}');
  });
});

describe("canonicalize: what it promises for any value", () => {
  test("the text means the same and does not depend on the order of keys", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalize(value);
        expect(canonicalize(JSON.parse(text))).toBe(text);
        expect(canonicalize(reversed(value))).toBe(text);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
      { numRuns: 2000 },
    );
  });

  test("more different keys than it remembers are still written correctly", () => {
    const value = Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`key-${index}"`, index]));

    expect(JSON.parse(canonicalize(value))).toEqual(value);
    expect(isCanonical(canonicalize(value))).toBe(true);
  });

  test("plain objects of other realms and without a prototype are plain", () => {
    expect(canonicalize(Object.assign(Object.create(null), { b: 1, a: 2 }))).toBe('{"a":2,"b":1}');
    expect(canonicalize(runInNewContext("({ b: 1, a: [{}] })"))).toBe('{"a":[{}],"b":1}');
    expect(() => canonicalize(runInNewContext("new Map()"))).toThrow(CanonicalError);
  });
});

describe("canonicalize: what it refuses", () => {
  const cyclic: { list: unknown[] } = { list: [] };
  cyclic.list.push({ back: cyclic });

  test.each<[string, unknown, string, RegExp]>([
    ["NaN", { a: { b: Number.NaN } }, "$.a.b", /is NaN/],
    ["Infinity", [1, -Infinity], "$[1]", /is -Infinity/],
    ["undefined", { "not set": undefined }, '$["not set"]', /is undefined/],
    ["a hole", Object.assign([1], { length: 3 }), "$[1]", /is undefined/],
    ["a function", { f: () => 1 }, "$.f", /is a function/],
    ["a bigint", 1n, "$", /is a bigint/],
    ["a symbol", [Symbol("s")], "$[0]", /is a symbol/],
    ["a cycle", cyclic, "$.list[0].back", /is cyclic/],
    ["a lone surrogate", { a: "x\ud83d" }, "$.a", /half of a surrogate pair/],
    ["a lone surrogate in a key", { "\ude00": 1 }, '$["\\ude00"]', /half of a surrogate pair/],
    ["a date", { at: new Date(0) }, "$.at", /instance of Date/],
    ["a map", [new Map()], "$[0]", /instance of Map/],
    ["a boxed string", { s: Object("s") }, "$.s", /instance of String/],
    ["bytes", { b: new Uint8Array(1) }, "$.b", /instance of Uint8Array/],
    ["an object with a prototype of its own", Object.create({ a: 1 }), "$", /not a plain object/],
    ["too deep a nesting", nested(1001), `$${"[0]".repeat(1000)}`, /nested deeper than 1000 levels/],
  ])("%s, naming the path", (_, value, path, problem) => {
    const refusal = caught(() => canonicalize(value as Json));

    expect(refusal).toBeInstanceOf(CanonicalError);
    expect(refusal).toBeInstanceOf(TypeError);
    expect((refusal as CanonicalError).path).toBe(path);
    expect((refusal as CanonicalError).message).toMatch(problem);
  });

  test("the deepest nesting that is allowed is written", () => {
    expect(canonicalize(nested(1000))).toBe("[".repeat(1000) + "]".repeat(1000));
  });

  test("the same object in two places is no cycle", () => {
    const shared = { a: 1 };

    expect(canonicalize([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });

  test("a getter that changes its mind gives an error and no text", () => {
    let asked = 0;
    const value = {
      get a(): number {
        asked++;
        return asked === 1 ? Number.NaN : 1;
      },
    };

    expect(() => canonicalize(value)).toThrow(CanonicalError);
  });
});

describe("isCanonical agrees with its definition", () => {
  const tokens = [
    ...'{}[]",:\\/u0019eE+-. abfnrt\n\u0001\u007fé\ufffd\ue000',
    "\ud83d",
    "\ude00",
    "😀",
    "\\u000",
    '"a":',
  ];

  test("on canonical texts", () => {
    fc.assert(
      fc.property(json, (value) => isCanonical(canonicalize(value))),
      { numRuns: 3000 },
    );
  });

  test("on other texts for the same values", () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1), (value, space) => {
        const text = JSON.stringify(value, null, space);
        expect(isCanonical(text)).toBe(isCanonicalByDefinition(text));
      }),
      { numRuns: 3000 },
    );
  });

  test("on canonical texts with a few edits", () => {
    const edit = fc.tuple(fc.nat(), fc.constantFrom(0, 1, 2), fc.constantFrom(...tokens));
    fc.assert(
      fc.property(json, fc.array(edit, { minLength: 1, maxLength: 3 }), (value, edits) => {
        const text = edits.reduce(applyEdit, canonicalize(value));
        expect(isCanonical(text), JSON.stringify(text)).toBe(isCanonicalByDefinition(text));
      }),
      { numRuns: 10_000 },
    );
  });

  test("on garbage", () => {
    const garbage = fc.oneof(fc.string({ unit: fc.constantFrom(...tokens), maxLength: 12 }), fc.string());
    fc.assert(
      fc.property(garbage, (text) => {
        expect(isCanonical(text), JSON.stringify(text)).toBe(isCanonicalByDefinition(text));
      }),
      { numRuns: 10_000 },
    );
  });

  test("on everything that looks like a number", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0001234567899.eE+--"), maxLength: 20 });
    const printed = fc
      .tuple(fc.double({ noNaN: true }), fc.nat({ max: 20 }))
      .chain(([value, places]) =>
        fc.constantFrom(`${value}`, value.toFixed(places), value.toExponential(places), value.toPrecision(places + 1)),
      );
    fc.assert(
      fc.property(fc.oneof(digits, printed, fc.nat().map(String)), (number) => {
        for (const text of [number, `[${number}]`, `{"a":${number},"b":${number}}`]) {
          expect(isCanonical(text), text).toBe(isCanonicalByDefinition(text));
        }
      }),
      { numRuns: 10_000 },
    );
  });

  test("on every short text of the characters numbers are made of, and around the smallest fractions", () => {
    let texts = [""];
    for (let length = 1; length <= 6; length++) {
      texts = texts.flatMap((text) => [..."019.e-"].map((character) => text + character));
      for (const text of texts) {
        if (isCanonical(text) !== isCanonicalByDefinition(text)) expect.fail(`differs on ${text}`);
      }
    }
    for (let zeros = 0; zeros <= 20; zeros++) {
      for (const digits of ["1", "10", "12", "123456789", "1234567890123456"]) {
        for (const text of [
          `0.${"0".repeat(zeros)}${digits}`,
          `-0.${"0".repeat(zeros)}${digits}`,
          `${digits}e-${zeros}`,
        ]) {
          expect(isCanonical(text), text).toBe(isCanonicalByDefinition(text));
        }
      }
    }
  });

  test("on every escape and every single character", () => {
    for (let code = 0; code <= 0xffff; code++) {
      const hex = code.toString(16).padStart(4, "0");
      for (const text of [`"${String.fromCharCode(code)}"`, `"\\u${hex}"`, `"\\u${hex.toUpperCase()}"`]) {
        if (isCanonical(text) !== isCanonicalByDefinition(text)) expect.fail(`differs on ${JSON.stringify(text)}`);
      }
    }
  });

  test.each([
    "",
    " ",
    "\ufeff1",
    "1\n",
    "nul",
    "nulll",
    "[1,]",
    "[,1]",
    '{"a":1,}',
    '{"a":1,"a":1}',
    "[1 ,2]",
    "\u0000",
  ])("on %j", (text) => {
    expect(isCanonical(text)).toBe(false);
    expect(isCanonicalByDefinition(text)).toBe(false);
  });

  test("on nesting up to the limit and beyond", () => {
    for (const depth of [999, 1000, 1001, 5000]) {
      expect(isCanonical("[".repeat(depth) + "]".repeat(depth))).toBe(depth <= 1000);
      expect(isCanonical(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`)).toBe(depth <= 1000);
    }
  });

  test("on texts larger than its buffer", () => {
    const large = canonicalize({
      list: Array.from({ length: 50_000 }, (_, index) => `é${index}`),
      "😀": "x".repeat(99_999),
    });

    expect(isCanonical(large)).toBe(true);
    expect(isCanonical(large.replace("é49999", 'é49999"'))).toBe(false);
    expect(isCanonical(large.slice(0, -1))).toBe(false);
  });
});

function applyEdit(text: string, [at, kind, token]: [number, number, string]): string {
  const index = at % (text.length + 1);
  return text.slice(0, index) + (kind === 0 ? "" : token) + text.slice(kind === 2 ? index : index + 1);
}

/** The same value with the keys of every object in the opposite order. */
function reversed(value: Json): Json {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).reverse();
  return Object.fromEntries(members.map(([key, member]) => [key, reversed(member)]));
}

function caught(act: () => unknown): unknown {
  try {
    act();
    return undefined;
  } catch (error) {
    return error;
  }
}
