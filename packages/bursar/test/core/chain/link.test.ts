import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalize, type Json } from "../../../src/core/chain/canonical.js";
import { CanonicalError } from "../../../src/core/chain/canonical-error.js";
import { appendLink, emptyHead, type Head, type LinkDraft, parseLine } from "../../../src/core/chain/link.js";
import { LinkError } from "../../../src/core/chain/rules.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { chain, chainId, plainChain } from "./arbitraries.js";

const draft: LinkDraft = { action_type: "RunStarted", at: 1767225600000, cause: null, data: { b: [1, "é"], a: null } };

describe("appendLink", () => {
  test("makes a link whose hash is that of its canonical JSON without the hash", () => {
    const { link, line, head } = appendLink(emptyHead("run-7"), { ...draft, event: "Allocation" }, sha256Hex);

    const body =
      '{"action_type":"RunStarted","at":1767225600000,"cause":null,"chain":"run-7","data":{"a":null,"b":[1,"é"]},' +
      `"event":"Allocation","id":"run-7#0","prev":"${"0".repeat(64)}","seq":0}`;
    expect(line).toBe(`${body.slice(0, -1)},"hash":"${sha256Hex(body)}"}`);
    expect(link).toEqual({ ...JSON.parse(body), hash: sha256Hex(body) });
    expect(head).toEqual({ chain: "run-7", seq: 0, hash: link.hash });
  });

  test("ties each link to the one before, for any content and any chain id", () => {
    fc.assert(
      fc.property(chain, ({ lines, heads }) => {
        lines.forEach((line, seq) => {
          const { hash, ...body } = parseLine(line);
          expect(body.seq).toBe(seq);
          expect(body.prev).toBe(heads[seq - 1]?.hash ?? "0".repeat(64));
          expect(hash).toBe(sha256Hex(canonicalize(body as unknown as Json)));
          expect(heads[seq]).toEqual({ chain: body.chain, seq, hash });
        });
      }),
      { numRuns: 500 },
    );
  });

  test("writes chains in turns and from heads that were read from a database", () => {
    const first = appendLink(emptyHead("a"), draft, sha256Hex);
    const other = appendLink(emptyHead("b"), draft, sha256Hex);
    const stored: Head = JSON.parse(JSON.stringify(first.head));

    const next = appendLink(stored, { ...draft, cause: "b#0" }, sha256Hex);

    expect(next.link).toMatchObject({ prev: first.link.hash, seq: 1, cause: "b#0" });
    expect(appendLink(other.head, draft, sha256Hex).link.prev).toBe(other.link.hash);
  });

  test("can start again from an earlier head, as after a rollback", () => {
    const { heads } = plainChain(3);

    expect(appendLink(heads[0] as Head, draft, sha256Hex).link).toMatchObject({ seq: 1, prev: heads[0]?.hash });
  });

  test("more chains than it remembers are still written correctly", () => {
    for (let index = 0; index < 3000; index++) {
      const { head } = appendLink(emptyHead(`run-${index}`), draft, sha256Hex);
      expect(parseLine(appendLink(head, draft, sha256Hex).line).chain).toBe(`run-${index}`);
    }
  });

  test.each<[string, Partial<Record<keyof LinkDraft, unknown>>, RegExp]>([
    ["an empty action type", { action_type: "" }, /"action_type" must be a string/],
    ["an action type that is no string", { action_type: 7 }, /"action_type" must be a string/],
    ["a time with a fraction", { at: 1.5 }, /"at" must be a whole number/],
    ["a time before 1970", { at: -1 }, /"at" must be a whole number/],
    ["a cause that is no id", { cause: "somewhere" }, /"cause" is not the id of a link/],
    ["a cause that is no string", { cause: 7 }, /"cause" must be null or the id/],
    ["a cause that is itself", { cause: "run-7#0" }, /"cause" is not an earlier link/],
    ["data that is a list", { data: [] }, /"data" must be an object/],
    ["no data", { data: null }, /"data" must be an object/],
    ["an empty event", { event: "" }, /"event" must be a string/],
  ])("refuses %s", (_, change, message) => {
    expect(() => appendLink(emptyHead("run-7"), { ...draft, ...change } as LinkDraft, sha256Hex)).toThrow(LinkError);
    expect(() => appendLink(emptyHead("run-7"), { ...draft, ...change } as LinkDraft, sha256Hex)).toThrow(message);
  });

  test.each([
    "#0",
    "a#",
    "a#01",
    "a#-1",
    "a#1.0",
    "a# 1",
    "a#1#2",
    "a#9007199254740992",
    "a\n#1",
    `${"x".repeat(201)}#1`,
  ])("refuses the cause %j", (cause) => {
    expect(() => appendLink(emptyHead("run-7"), { ...draft, cause }, sha256Hex)).toThrow(/not the id of a link/);
  });

  test("refuses data that is not JSON and says where", () => {
    const data = { list: [{ when: new Date(0) }] } as unknown as LinkDraft["data"];

    expect(() => appendLink(emptyHead("run-7"), { ...draft, data }, sha256Hex)).toThrow(CanonicalError);
    expect(() => appendLink(emptyHead("run-7"), { ...draft, data }, sha256Hex)).toThrow("data.list[0].when is an");
  });

  test("nesting is limited for the link as a whole, so that whoever reads it can write it again", () => {
    const nested = (depth: number): Json => JSON.parse(`${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`);

    const { line } = appendLink(emptyHead("run-7"), { ...draft, data: nested(999) as LinkDraft["data"] }, sha256Hex);
    expect(parseLine(line).seq).toBe(0);
    expect(() =>
      appendLink(emptyHead("run-7"), { ...draft, data: nested(1000) as LinkDraft["data"] }, sha256Hex),
    ).toThrow(/nested deeper/);
  });

  test.each<[string, Partial<Head>]>([
    ["a chain with #", { chain: "a#b" }],
    ["no chain", { chain: "" }],
    ["a seq below -1", { seq: -2 }],
    ["a seq with a fraction", { seq: 0.5 }],
    ["a hash that is too short", { hash: "abc" }],
    ["a hash that would break out of the line", { hash: `","x":"${"0".repeat(57)}` }],
    ["a hash in capitals", { hash: "A".repeat(64) }],
    ["a hash for a chain without links", { seq: -1, hash: "a".repeat(64) }],
    ["the last position there is", { seq: Number.MAX_SAFE_INTEGER }],
  ])("refuses a head with %s", (_, change) => {
    const head = { chain: "run-7", seq: 3, hash: "a".repeat(64), ...change };

    expect(() => appendLink(head, draft, sha256Hex)).toThrow(LinkError);
  });

  test.each(["", "abc", "A".repeat(64)])("refuses a hash function that gives %j", (digest) => {
    expect(() => appendLink(emptyHead(`hash-${digest}`), draft, () => digest)).toThrow(/64 lowercase hex digits/);
  });
});

describe("chain ids", () => {
  test.each(["", "a#b", "a\nb", "a\u0000", "a\u0085", "x".repeat(201), "\ud800"])("%j is refused", (id) => {
    expect(() => emptyHead(id)).toThrow(LinkError);
  });

  test("anything else is fine", () => {
    fc.assert(fc.property(chainId, (id) => emptyHead(id).chain === id));
    expect(emptyHead("x".repeat(200)).seq).toBe(-1);
  });
});

describe("parseLine", () => {
  const [line = ""] = plainChain(1).lines;

  test("gives back the link", () => {
    const appended = appendLink(emptyHead("run-7"), draft, sha256Hex);

    expect(parseLine(appended.line)).toEqual(appended.link);
  });

  test.each<[string, string, LinkError["reason"], RegExp]>([
    ["an empty line", "", "malformed", /not JSON/],
    ["half a line", line.slice(0, 50), "malformed", /not JSON/],
    ["a list", "[]", "malformed", /not a JSON object/],
    ["null", "null", "malformed", /not a JSON object/],
    ["an object", "{}", "malformed", /"action_type" is missing/],
    ["no hash", `${line.slice(0, -75)}}`, "malformed", /"hash" is missing/],
    ["two hashes", line.replace(',"id"', `,"hash":"${"0".repeat(64)}","id"`), "malformed", /"hash" twice/],
    ["another member", line.replace(',"id"', ',"extra":1,"id"'), "malformed", /member that links do not have/],
    ["a prototype", line.replace("{", '{"__proto__":1,'), "malformed", /member that links do not have/],
    ["a cause that is a number", line.replace('"cause":null', '"cause":7'), "malformed", /"cause" must be/],
    ["another id", line.replace('"id":"run-7#0"', '"id":"run-7#1"'), "malformed", /"id" is not made of/],
    ["a hash in capitals", line.replace(/[0-9a-f]{64}"}$/, `${"A".repeat(64)}"}`), "malformed", /"hash" must be/],
    ["a space", line.replace(":", ": "), "not_canonical", /not written as canonical/],
    ["a space before the hash", line.replace(',"hash"', ', "hash"'), "not_canonical", /not written as canonical/],
    ["a carriage return", `${line}\r`, "not_canonical", /carriage return/],
    ["a byte order mark", `\ufeff${line}`, "malformed", /not JSON/],
    ["an escape too many", line.replace("Budget", "\\u0042udget"), "not_canonical", /not written as canonical/],
    ["an exponent", line.replace('"seq":0', '"seq":0e0'), "not_canonical", /not written as canonical/],
    ["keys out of order", line.replace(/("at":\d+),("cause":null)/, "$2,$1"), "not_canonical", /not written as/],
  ])("refuses %s", (_, text, reason, message) => {
    expect(() => parseLine(text)).toThrow(expect.objectContaining({ name: "LinkError", reason }));
    expect(() => parseLine(text)).toThrow(message);
  });

  test("says nothing of what a line holds", () => {
    const secret = '{"action_type":"sk-secret';

    expect(() => parseLine(secret)).toThrow(/^it is not JSON$/);
  });
});
