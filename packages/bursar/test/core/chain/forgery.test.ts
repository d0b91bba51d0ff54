import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { canonicalize, type Json } from "../../../src/core/chain/canonical.js";
import { firstPlace, fits, nextPlace } from "../../../src/core/chain/match.js";
import { verifyChain } from "../../../src/core/chain/verify.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { chain, plainChain, text } from "./arbitraries.js";

/*
 * A forger knows the format and computes every hash anew. What is left to find is a link that must not be there at all.
 * The verifier takes short cuts for speed; here it is held against a naive one that takes none.
 */

/** Index of the first bad line, or -1: slow, short, and by the definition of a chain. */
function firstBadLine(lines: readonly string[]): number {
  let prev = "0".repeat(64);
  let chain: unknown;
  return lines.findIndex((line, seq) => {
    const link = parse(line);
    chain ??= link?.chain;
    const isGood = link !== null && isLink(link, line) && link.chain === chain && link.seq === seq;
    const isTied = isGood && link.prev === prev && isCause(link.cause, `${chain}`, seq);
    prev = `${link?.hash}`;
    return !isTied;
  });
}

interface LooseLink {
  readonly [member: string]: unknown;
  readonly action_type?: unknown;
  readonly at?: unknown;
  readonly cause?: unknown;
  readonly chain?: unknown;
  readonly data?: unknown;
  readonly event?: unknown;
  readonly hash?: unknown;
  readonly id?: unknown;
  readonly prev?: unknown;
  readonly seq?: unknown;
}

function parse(line: string): LooseLink | null {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && !Array.isArray(value) ? (value as LooseLink | null) : null;
  } catch {
    return null;
  }
}

const required = ["action_type", "at", "cause", "chain", "data", "hash", "id", "prev", "seq"];

function isLink(link: LooseLink, line: string): boolean {
  const { hash, ...body } = link;
  const members = Object.keys(link).filter((member) => member !== "event");
  const { action_type, at, chain, data, event, id, seq } = body;
  let written: string;
  try {
    written = canonicalize(body as unknown as Json);
  } catch {
    return false;
  }
  return (
    members.sort().join() === required.join() &&
    [action_type, chain, ...("event" in link ? [event] : [])].every(
      (name) => typeof name === "string" && name !== "",
    ) &&
    [at, seq].every((count) => Number.isSafeInteger(count) && (count as number) >= 0) &&
    typeof data === "object" &&
    data !== null &&
    !Array.isArray(data) &&
    isChainId(`${chain}`) &&
    id === `${chain}#${seq}` &&
    hash === sha256Hex(written) &&
    line === `${written.slice(0, -1)},"hash":"${hash}"}`
  );
}

function isChainId(id: string): boolean {
  return /^[^#]{1,200}$/.test(id.replaceAll("\n", "#")) && !/\p{Cc}|\p{Cs}/u.test(id);
}

function isCause(cause: unknown, chain: string, seq: number): boolean {
  if (cause === null) return true;
  const [causeChain = "", causeSeq = "", ...more] = `${cause}`.split("#");
  const isId = more.length === 0 && isChainId(causeChain) && /^(0|[1-9]\d*)$/.test(causeSeq);
  if (typeof cause !== "string" || !isId || !Number.isSafeInteger(Number(causeSeq))) return false;
  return causeChain !== chain || Number(causeSeq) < seq;
}

/** The chain with the body of one link replaced, and this and all further hashes computed anew. */
function forge(lines: readonly string[], at: number, newBody: (body: string) => string): string[] {
  let prev = "";
  return lines.map((line, index) => {
    if (index < at) return line;
    const old = `${line.slice(0, -75)}}`;
    const body =
      index === at ? newBody(old) : old.replace(/"prev":"[^"]*","seq":(\d+)}$/, `"prev":"${prev}","seq":$1}`);
    prev = sha256Hex(body);
    return `${body.slice(0, -1)},"hash":"${prev}"}`;
  });
}

async function expectAgreement(lines: readonly string[]): Promise<void> {
  const expected = firstBadLine(lines);
  const verification = await verifyChain(lines, { hash: sha256Hex });
  expect(verification.ok ? -1 : verification.at, lines.join("\n")).toBe(expected);
}

const oddValues: readonly unknown[] = [
  null,
  true,
  0,
  -0,
  -1,
  1.5,
  7,
  1e21,
  2 ** 53,
  2 ** 53 - 1,
  [],
  {},
  [{}],
  { a: [] },
  "",
  "#",
  "é",
  "\ud83d",
  "run-7",
  "run-7#0",
  "run-7#1",
  "run-7#2",
  "run-8#9",
  "0".repeat(64),
  "a".repeat(64),
];
const odd = fc.constantFrom(...oddValues);
const oddCause = fc
  .tuple(
    fc.oneof(text, fc.constant("run-7")),
    fc.constantFrom("#", "", "##", "#0", "#-"),
    fc.oneof(text, fc.nat().map(String)),
  )
  .map((parts) => parts.join(""));
const members = ["action_type", "at", "cause", "chain", "data", "event", "id", "prev", "seq", "hash", "aaa", "zzz"];

describe("the short cut", () => {
  test("is taken for every line of a usual chain, so that nothing is parsed", () => {
    const { lines, heads } = plainChain(12);
    let place = firstPlace("run-7");
    lines.forEach((line, seq) => {
      expect(fits(line, place)).toBe(true);
      expect(fits(line, { ...place, seq: seq + 1 })).toBe(false);
      expect(fits(line, { ...place, prev: "a".repeat(64) })).toBe(false);
      place = nextPlace(place, `${heads[seq]?.hash}`);
    });
  });
});

describe("a forger who computes all hashes anew", () => {
  test("and leaves everything else as it was has a chain, which only a known head can refute", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), async ({ lines }, pick) => {
        const forgery = forge(lines, pick % lines.length, (body) => body.replace(/"at":\d+/, '"at":12345'));
        expect(firstBadLine(forgery)).toBe(-1);
        await expectAgreement(forgery);
      }),
      { numRuns: 300 },
    );
  });

  test("and edits the text of a link", async () => {
    const tokens = [
      ...'{}[]",:\\/u0019eE+-.# \n\u0001é',
      "\ud83d",
      "😀",
      "\\n",
      "\\u0007",
      '"a":1,',
      "null",
      ',"cause":"x#1"',
    ];
    const edit = fc.tuple(fc.nat(), fc.constantFrom(0, 1, 2), fc.constantFrom(...tokens));
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), fc.array(edit, { maxLength: 2 }), async ({ lines }, pick, edits) => {
        await expectAgreement(forge(lines, pick % lines.length, (body) => edits.reduce(applyEdit, body)));
      }),
      { numRuns: 2000 },
    );
  });

  test("and replaces, removes or adds any one character of a usual link", async () => {
    const { lines } = plainChain(3);
    for (let index = 0; index < (lines[1]?.length ?? 0); index++) {
      for (const token of [...'x0"\\,}é']) {
        for (const kind of [0, 1, 2])
          await expectAgreement(forge(lines, 1, (body) => applyEdit(body, [index, kind, token])));
      }
    }
  });

  test("and gives a member another value", async () => {
    const value = fc.oneof(odd, oddCause, text);
    await fc.assert(
      fc.asyncProperty(
        chain,
        fc.nat(),
        fc.constantFrom(...members),
        value,
        async ({ lines }, pick, member, replacement) => {
          const at = pick % lines.length;
          const forgery = forge(lines, at, (body) => rewrite({ ...JSON.parse(body), [member]: replacement }));
          await expectAgreement(forgery);
        },
      ),
      { numRuns: 2000 },
    );
  });

  test("and gives each member in turn each odd value", async () => {
    for (const member of members) {
      for (const value of oddValues) {
        for (const at of [0, 1, 2]) {
          const forgery = forge(plainChain(3).lines, at, (body) => rewrite({ ...JSON.parse(body), [member]: value }));
          await expectAgreement(forgery);
        }
      }
    }
  });

  test("and nests data so deep that the link is too deep, though its data alone is not", async () => {
    for (const depth of [999, 1000]) {
      const data = `${'{"a":'.repeat(depth)}1${"}".repeat(depth)}`;
      const forgery = forge(plainChain(3).lines, 1, (body) => body.replace(/"data":\{.*?\}/, `"data":${data}`));
      expect(firstBadLine(forgery)).toBe(depth === 999 ? -1 : 1);
      await expectAgreement(forgery);
    }
  });

  test("and leaves a member out", async () => {
    const { lines } = plainChain(3);
    for (const member of members.slice(0, 9)) {
      const forgery = forge(lines, 1, (body) => rewrite({ ...JSON.parse(body), [member]: undefined }));
      expect(firstBadLine(forgery)).toBe(member === "event" ? -1 : 1);
      await expectAgreement(forgery);
    }
  });

  test("and names causes of all kinds", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), oddCause, async ({ lines }, pick, cause) => {
        await expectAgreement(forge(lines, pick % lines.length, (body) => rewrite({ ...JSON.parse(body), cause })));
      }),
      { numRuns: 1500 },
    );
  });

  test.each([
    "run-7#1",
    "run-7#2",
    "run-7#10",
    "run-7#01",
    "run-7#9007199254740993",
    "run-7#",
    "run-7",
    "run-8#x",
    `\ufeff${"x".repeat(200)}#1`,
  ])("and names %s as the cause of link 1", async (cause) => {
    const forgery = forge(plainChain(3).lines, 1, (body) => rewrite({ ...JSON.parse(body), cause }));
    const verification = await verifyChain(forgery, { hash: sha256Hex });
    expect(verification).toMatchObject({ ok: false, at: 1, seq: 1, reason: "bad_cause" });
  });

  test("and shifts characters against bytes to hide a bad cause behind a good one", async () => {
    for (let shift = 0; shift < 120; shift++) {
      const hidden = { action_type: `T${"é".repeat(shift)}`, cause: "nobody", data: { a: 1, cause: "other#5" } };
      const forgery = forge(plainChain(3).lines, 1, (body) => rewrite({ ...JSON.parse(body), ...hidden }));
      expect(await verifyChain(forgery, { hash: sha256Hex })).toMatchObject({ at: 1, reason: "bad_cause" });
      const stretched = { cause: "é".repeat(shift + 1), data: { a: `${"x".repeat(shift)}#5` } };
      await expectAgreement(forge(plainChain(3).lines, 1, (body) => rewrite({ ...JSON.parse(body), ...stretched })));
    }
  });

  test("and writes a link that has a hash inside what is hashed", async () => {
    const forgery = forge(plainChain(3).lines, 1, (body) => body.replace(',"id"', `,"hash":"${"a".repeat(64)}","id"`));

    expect(await verifyChain(forgery, { hash: sha256Hex })).toMatchObject({ ok: false, at: 1, reason: "malformed" });
  });

  test("and puts replacement characters where half a pair was", async () => {
    const forgery = forge(plainChain(3).lines, 1, (body) => body.replace("😀", "\ud83d"));

    expect(await verifyChain(forgery, { hash: sha256Hex })).toMatchObject({
      ok: false,
      at: 1,
      reason: "not_canonical",
    });
  });
});

/** Canonical where that is possible at all, so that only the forged value can be what is wrong. */
function rewrite(link: Record<string, unknown>): string {
  const written = Object.keys(link)
    .filter((member) => link[member] !== undefined)
    .sort()
    .map((member) => `${JSON.stringify(member)}:${write(link[member])}`);
  return `{${written.join()}}`;
}

function write(value: unknown): string {
  try {
    return canonicalize(value as Json);
  } catch {
    return JSON.stringify(value);
  }
}

function applyEdit(body: string, [at, kind, token]: [number, number, string]): string {
  const index = at % (body.length + 1);
  return body.slice(0, index) + (kind === 0 ? "" : token) + body.slice(kind === 2 ? index : index + 1);
}
