import { describe, expect, test } from "vitest";
import { canonicalize, isCanonical, type Json } from "../../../src/core/chain/canonical.js";
import { appendLink, emptyHead, parseLine } from "../../../src/core/chain/link.js";
import { verifyChain } from "../../../src/core/chain/verify.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { plainChain } from "./arbitraries.js";

/*
 * Writing and scanning remember what came before, for speed. Here the same things come again and again, almost the same,
 * and in large numbers, so that what is remembered would be wrong if it were relied on.
 */

describe("writing what was written before", () => {
  test.each<[string, readonly Json[], readonly string[]]>([
    ["a value that stays", ["x", "x", "x", "y", "x"], ['"x"', '"x"', '"x"', '"y"', '"x"']],
    ["values that are almost the same", [1, "1", 1, true, "true"], ["1", '"1"', "1", "true", '"true"']],
    ["zeros", [0, -0, 0, null, false], ["0", "0", "0", "null", "false"]],
    ["escapes", ['"', '"', '"', "\n", "\n"], ['"\\""', '"\\""', '"\\""', '"\\n"', '"\\n"']],
    ["containers", [{}, {}, [], [], { a: 1 }], ["{}", "{}", "[]", "[]", '{"a":1}']],
  ])("%s", (_, values, texts) => {
    for (const [index, value] of values.entries()) {
      expect(canonicalize({ first: value, next: value })).toBe(`{"first":${texts[index]},"next":${texts[index]}}`);
    }
  });

  test("refuses again what it has refused", () => {
    for (let time = 0; time < 3; time++) {
      expect(() => canonicalize({ a: "\ud800" })).toThrow("$.a holds half");
      expect(() => canonicalize({ a: 1, b: Number.NaN })).toThrow("$.b is NaN");
      expect(() => canonicalize({ a: 1, b: undefined as unknown as Json })).toThrow("$.b is undefined");
      expect(() => canonicalize({ a: 1, "\ud800": 1 })).toThrow("in its key");
    }
  });

  test("keys in any order, also when they were in another one before", () => {
    const expected = '{"":0,"a":1,"b":2,"c":3}';
    for (let time = 0; time < 3; time++) {
      expect(canonicalize({ "": 0, a: 1, b: 2, c: 3 })).toBe(expected);
      expect(canonicalize({ a: 1, c: 3, b: 2, "": 0 })).toBe(expected);
      expect(canonicalize({ c: 3, b: 2, a: 1, "": 0 })).toBe(expected);
    }
  });

  test("only what an object has itself", () => {
    const inherited = Object.defineProperty({}, "length", { value: 1, enumerable: false });
    expect(canonicalize(inherited as Json)).toBe("{}");
    Object.defineProperty(Object.prototype, "polluted", { value: 1, enumerable: true, configurable: true });
    // Nothing is expected before it is clean again: the test runner itself cannot work like this.
    const texts = [canonicalize({ a: 1 }), canonicalize({})];
    Reflect.deleteProperty(Object.prototype, "polluted");
    expect(texts).toEqual(['{"a":1}', "{}"]);
  });

  test("more keys than are remembered", () => {
    for (let index = 0; index < 3000; index++) {
      const text = canonicalize({ [`a${index}`]: index, [`b${index}`]: index });
      expect(text).toBe(`{"a${index}":${index},"b${index}":${index}}`);
      expect(isCanonical(text)).toBe(true);
      expect(isCanonical(`{"b${index}":1,"a${index}":1}`)).toBe(false);
    }
  });

  test("every time, whatever was the time before", () => {
    const times = [0, 999, 1000, 1001, 1999, 2000, 999_999, 1767225600000, 1767225600999, 1767225601000, 1767225600007];
    const late = [1e15 - 1, 1e15, 1e15 + 1, 9007199254740000, Number.MAX_SAFE_INTEGER];
    for (const at of [...times, ...late, ...times.toReversed()]) {
      const { line } = appendLink(emptyHead("times"), { action_type: "T", at, cause: null, data: {} }, sha256Hex);
      expect(line).toContain(`"at":${at},`);
      expect(parseLine(line).at).toBe(at);
    }
  });

  test("the link before as the cause, but not once the chain was taken back to before it", () => {
    const draft = { action_type: "T", at: 1, data: {} };
    const first = appendLink(emptyHead('c"c'), { ...draft, cause: null }, sha256Hex);
    const second = appendLink(first.head, { ...draft, cause: first.link.id }, sha256Hex);

    expect(parseLine(second.line).cause).toBe('c"c#0');
    expect(() => appendLink(first.head, { ...draft, cause: second.link.id }, sha256Hex)).toThrow("not an earlier link");
    expect(() => appendLink(emptyHead('c"c'), { ...draft, cause: 'c"c#0' }, sha256Hex)).toThrow("not an earlier link");
  });
});

describe("scanning what was scanned before", () => {
  test("a key that begins like a known one, or goes on after it, is another key", () => {
    for (let time = 0; time < 2; time++) {
      expect(isCanonical('{"alpha":1,"beta":2,"gamma":3}')).toBe(true);
      expect(isCanonical('{"alpha":1,"beta":2,"beta":3}')).toBe(false);
      expect(isCanonical('{"alpha":1,"alpha":1}')).toBe(false);
      expect(isCanonical('{"alpha":1,"alph":1}')).toBe(false);
      expect(isCanonical('{"alpha":1,"alpha_":1}')).toBe(true);
      expect(isCanonical('{"beta":2,"alpha":1}')).toBe(false);
      expect(isCanonical('{"alpha":1,"gamma":3,"beta":2}')).toBe(false);
      expect(isCanonical('{"alpha" :1}')).toBe(false);
      expect(isCanonical('{"alpha":1,}')).toBe(false);
      expect(isCanonical('{"alpha":')).toBe(false);
      expect(isCanonical('{"":1,"a":2}')).toBe(true);
      expect(isCanonical('{"a":2,"":1}')).toBe(false);
    }
  });

  test("a character that ends a string or may not be in it, wherever it is and whatever comes before", () => {
    for (let length = 0; length < 12; length++) {
      for (const before of ["x", "é", "\u007f", "€", "!", "#", "[", "]"]) {
        const start = `"${before.repeat(length)}`;
        expect(isCanonical(`${start}"`)).toBe(true);
        expect(isCanonical(`${start}\\n!"`)).toBe(true);
        expect(isCanonical(`${start}\u001f!"`)).toBe(false);
        expect(isCanonical(`${start}\\!"`)).toBe(false);
        expect(isCanonical(`${start}\u0000"`)).toBe(false);
        expect(isCanonical(`${start}"x`)).toBe(false);
        expect(isCanonical(start)).toBe(false);
      }
    }
  });
});

describe("a chain that is verified some lines at a time", () => {
  const links = 200;
  const { lines, heads, head } = plainChain(links);
  const places = [0, 1, 62, 63, 64, 65, 66, 127, 128, 129, 198, 199];

  test.each(places)("a bad line at %i is the one that is named", async (at) => {
    const line = lines[at] ?? "";
    const changed = lines.with(at, line.replace("Consumption", "Allocation_"));
    const claiming = lines.with(at, line.replace(/[0-9a-f]{64}"\}$/, `${"a".repeat(64)}"}`));
    const missing = lines.toSpliced(at, 1);

    for (const candidate of [changed, claiming]) {
      const options = { hash: sha256Hex, head };
      expect(await verifyChain(candidate, options)).toMatchObject({ ok: false, at, reason: "hash_mismatch" });
    }
    const reason = at === links - 1 ? "truncated" : "wrong_seq";
    expect(await verifyChain(missing, { hash: sha256Hex, head })).toMatchObject({ ok: false, at, reason });
  });

  test.each(places)("a known head at %i is where it may not go on", async (at) => {
    const known = { hash: sha256Hex, head: heads[at] };
    const verification = await verifyChain(lines, known);

    expect(verification).toMatchObject(
      at === links - 1 ? { ok: true, links } : { ok: false, at: at + 1, reason: "beyond_head" },
    );
    expect(await verifyChain(lines, { ...known, mayContinue: true })).toMatchObject({ ok: true, links });
  });

  test("hashes nothing that comes after the bad line", async () => {
    const hashed: string[] = [];
    const hash = (text: string) => {
      hashed.push(text);
      return sha256Hex(text);
    };

    await verifyChain(lines.with(70, `${lines[70]}`.replace("Consumption", "Allocation_")), { hash });
    expect(hashed.length).toBe(71);
  });
});
