import { inspect } from "node:util";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { Bench } from "./fixture.js";

const bench = new Bench();

describe("console.log shows as Node does", () => {
  test.for([
    `"text"`,
    `[1, "two", null, undefined, true, 3n, Symbol("s")]`,
    `({ a: 1, "b-c": 2, [Symbol("k")]: 3, nested: { deep: { deeper: { deepest: 1 } } } })`,
    `[-0, 0, 1e21, NaN, Infinity]`,
    `["it's", 'say "hi"', \`both ' and "\`, "a\\nb\\tc\\\\", "\\x1b[31m", "\\ud800"]`,
    `Array.from({ length: 120 }, (_, index) => index)`,
    `Array.from({ length: 27 }, (_, index) => "item " + index)`,
    `Array.from({ length: 7 }, (_, index) => ({ index }))`,
    `[1, , , 4]`,
    `Object.assign([1, 2], { extra: true })`,
    `new Map([["a", { b: 1 }], [{ c: 2 }, [3]]])`,
    `new Set(["a", 1, [2]])`,
    `new Map()`,
    `new Set()`,
    `[]`,
    `({})`,
    `Object.create(null)`,
    `Object.assign(Object.create(null), { a: 1 })`,
    `new Uint8Array([1, 2, 255])`,
    `new Float64Array(3)`,
    `new Date(1700000000000)`,
    `new Date(NaN)`,
    `[/a+b/gi, new Date(0)]`,
    `[function named() {}, () => {}, class A {}, class B extends Array {}, async () => {}, function* g() {}]`,
    `Object.assign(function named() {}, { a: 1 })`,
    `new (class Point { constructor() { this.x = 1; this.y = 2; } })()`,
    `new (class Empty {})()`,
    `new (class List extends Array {})(3)`,
    `({ get a() { return 1; }, set b(value) {}, get c() { return 1; }, set c(value) {} })`,
    `[Promise.resolve(4), new Promise(() => {})]`,
    `[new Number(3), new String("abc"), new Boolean(false)]`,
    `[new WeakMap(), new WeakSet()]`,
    `({ long: "x".repeat(100), other: "y".repeat(30) })`,
    `({ text: "first line\\nsecond line which is rather long\\nthird line of the text, also long" })`,
    `[[[[[1]]]], { a: { b: { c: { d: 1 } } } }]`,
    `[["a", 1], ["b", 2], ["c", 3]]`,
    `({ a: [{ b: 1, c: [1, 2, 3] }, { b: 2, c: [] }], d: "e".repeat(60) })`,
    `[1.5, 22.25, 333.125, 4, 5, 6, 7, 8.5]`,
    `Array.from({ length: 101 }, () => "ab")`,
    `[undefined, null]`,
    `(() => { const a = { name: "a" }; a.self = a; a.list = [a, { a }]; return a; })()`,
    `(() => { const m = new Map(); m.set("me", m); return m; })()`,
    `new Proxy({ a: 1 }, { get() { throw new Error("trap"); } })`,
    `(function () { return arguments; })(1, 2).length`,
    `({ [Symbol.toStringTag]: "Tagged", a: 1 })`,
    `(function* () {})()`,
  ])("%s", async (expression) => {
    const expected = typeof runInNewContext(expression) === "string" ? "text" : inspect(runInNewContext(expression));

    expect(await bench.print(`console.log(${expression})`)).toBe(`${expected}\n`);
  });

  test("but for a buffer, which versions of Node show differently", async () => {
    const shown = await bench.print("console.log(new Uint8Array([1, 2, 255]).buffer)");

    expect(shown).toBe("ArrayBuffer { [Uint8Contents]: <01 02 ff>, byteLength: 3 }\n");
  });
});

describe("console", () => {
  test.for([
    [`"%s is %d years and %i, %f", "Bob", 42.5, 42.9, "1.5", "rest"`, "Bob is 42.5 years and 42, 1.5 rest"],
    [`"%j %o %%", { a: 1 }, [1]`, `{"a":1} [ 1 ] %`],
    [`"100%", 1`, "100% 1"],
    [`"%s"`, "%s"],
    [`"%x", 1`, "%x 1"],
    [`"%s", Symbol("a")`, "Symbol(a)"],
    [`"%cstyled", "color: red"`, "styled"],
    [`"a", "b", 1, { c: 2 }`, "a b 1 { c: 2 }"],
    ["", ""],
  ])("fills in %s", async ([args, expected]) => {
    expect(await bench.print(`console.log(${args})`)).toBe(`${expected}\n`);
  });

  test("goes to the stream that Node uses", async () => {
    const { out, err } = await bench.run(`
      console.log("log"); console.info("info"); console.debug("debug");
      console.warn("warn"); console.error("error");
      console.assert(true, "not this"); console.assert(false, "this %d", 1); console.assert(false);
    `);

    expect(out).toBe("log\ninfo\ndebug\n");
    expect(err).toBe("warn\nerror\nAssertion failed: this 1\nAssertion failed\n");
  });

  test("indents groups, counts and draws tables", async () => {
    const out = await bench.print(`
      console.group("outer"); console.log("a\\nb"); console.group(); console.log({ x: 1 }); console.groupEnd();
      console.groupEnd(); console.count(); console.count(); console.countReset(); console.count("other");
      console.table([{ a: 1, b: "x" }, { a: 2 }]); console.table(["p", "q"]); console.table(5);
    `);

    expect(out).toBe(
      [
        "outer\n  a\n  b\n    { x: 1 }\ndefault: 1\ndefault: 2\nother: 1",
        "┌─────────┬───┬─────┐\n│ (index) │ a │ b   │\n├─────────┼───┼─────┤\n│ 0       │ 1 │ 'x' │\n│ 1       │ 2 │     │",
        "└─────────┴───┴─────┘",
        "┌─────────┬────────┐\n│ (index) │ Values │\n├─────────┼────────┤\n│ 0       │ 'p'    │\n│ 1       │ 'q'    │",
        "└─────────┴────────┘\n5\n",
      ].join("\n"),
    );
  });

  test("a group that was left open does not indent the next program", async () => {
    await bench.run(`console.group("open")`);

    expect(await bench.print(`console.log("plain")`)).toBe("plain\n");
  });

  test("shows errors with stack, cause and own properties", async () => {
    const out = await bench.print(`
      function fail() { return Object.assign(new TypeError("no", { cause: new Error("why") }), { code: "E1" }); }
      console.log(fail());
      class Custom extends Error {}
      console.log([new Custom("mine")]);
    `);

    expect(out).toMatch(/^TypeError: no\n {4}at fail \(<main>:2:\d+\)\n {4}at <eval> \(<main>:3:\d+\) \{\n/);
    expect(out).toMatch(/\n {2}\[cause\]: Error: why\n {6}at fail/);
    expect(out).toMatch(/\n {2}code: 'E1'\n\}\n/);
    expect(out).toMatch(/\[\n {2}Custom: mine\n {6}at Custom \(.*\)\n {6}at <eval> \(<main>:5:\d+\)\n\]\n$/);
  });

  test("print does the same", async () => {
    expect(await bench.print(`print("a", { b: 1 })`)).toBe("a { b: 1 }\n");
  });
});
