import { webcrypto } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { appendLink, emptyHead, type Head, type LinkDraft } from "../../../src/core/chain/link.js";
import { type Verification, verifyChain } from "../../../src/core/chain/verify.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { appendAll, chain, chainOf, plainChain } from "./arbitraries.js";

const forged: LinkDraft = { action_type: "Forged", at: 1, cause: null, data: {} };
const runs = { numRuns: 200 };

function verify(lines: Iterable<string>, head?: Head): Promise<Verification> {
  return verifyChain(lines, { hash: sha256Hex, head });
}

/** As in a browser, where hashing is asynchronous. */
async function subtleHash(text: string): Promise<string> {
  const digest = await webcrypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

describe("verifyChain accepts", () => {
  test("any chain that nobody touched, with and without its head", async () => {
    await fc.assert(
      fc.asyncProperty(chain, async ({ lines, head }) => {
        const expected = { ok: true, chain: head.chain, links: lines.length, head };
        expect(await verify(lines)).toEqual(expected);
        expect(await verify(lines, head)).toEqual(expected);
      }),
      runs,
    );
  });

  test("a chain without links, if that is what its head says", async () => {
    const head = emptyHead("run-7");

    expect(await verify([], head)).toEqual({ ok: true, chain: "run-7", links: 0, head });
  });

  test("lines from an asynchronous source", async () => {
    const { lines, head } = plainChain(3);

    async function* source() {
      for (const line of lines) yield line;
    }
    expect(await verifyChain(source(), { hash: sha256Hex, head })).toMatchObject({ ok: true, links: 3 });
  });
});

describe("verifyChain refuses, and names the first bad line, when somebody", () => {
  test("changes any one character of any line", async () => {
    const change = fc.tuple(chain, fc.nat(), fc.nat(), fc.constantFrom(...'0aA{}"\\,:# \n\r\u0000é\ufffd'));
    await fc.assert(
      fc.asyncProperty(change, async ([{ lines, head }, line, character, replacement]) => {
        const at = line % lines.length;
        const original = lines[at] ?? "";
        const index = character % original.length;
        fc.pre(original[index] !== replacement);
        const changed = original.slice(0, index) + replacement + original.slice(index + 1);

        for (const known of [head, undefined]) {
          expect(await verify(lines.with(at, changed), known)).toMatchObject({ ok: false, at });
        }
      }),
      { numRuns: 1500 },
    );
  });

  test("drops a link", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), async ({ lines, head }, pick) => {
        const at = pick % lines.length;
        const verification = await verify(lines.toSpliced(at, 1), head);
        const reason = at === lines.length - 1 ? "truncated" : "wrong_seq";
        expect(verification).toMatchObject({ ok: false, at, reason });
      }),
      runs,
    );
  });

  test("repeats a link", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), async ({ lines }, pick) => {
        const at = pick % lines.length;
        const verification = await verify(lines.toSpliced(at, 0, lines[at] ?? ""));
        expect(verification).toMatchObject({ ok: false, at: at + 1, seq: at, reason: "wrong_seq" });
      }),
      runs,
    );
  });

  test("swaps two links", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), fc.nat(), async ({ lines }, one, two) => {
        const at = Math.min(one % lines.length, two % lines.length);
        const other = Math.max(one % lines.length, two % lines.length);
        fc.pre(at !== other);
        const swapped = lines.with(at, lines[other] ?? "").with(other, lines[at] ?? "");
        expect(await verify(swapped)).toMatchObject({ ok: false, at, seq: other, reason: "wrong_seq" });
      }),
      runs,
    );
  });

  test("inserts a forged link that ties in well: the link after it cannot", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), async ({ lines, heads, head }, pick) => {
        const at = pick % (lines.length + 1);
        const { line } = appendLink(heads[at - 1] ?? emptyHead(head.chain), forged, sha256Hex);
        const verification = await verify(lines.toSpliced(at, 0, line), head);
        const expected =
          at === lines.length ? { at, reason: "beyond_head" } : { at: at === lines.length - 1 ? at : at + 1 };
        expect(verification).toMatchObject({ ok: false, ...expected });
      }),
      runs,
    );
  });

  test("inserts a forged link that ties in badly", async () => {
    const { lines, heads } = plainChain(5);
    const { line } = appendLink({ ...(heads[1] as Head), hash: "f".repeat(64) }, forged, sha256Hex);

    const verification = await verify(lines.toSpliced(2, 0, line));
    expect(verification).toMatchObject({ ok: false, at: 2, seq: 2, reason: "wrong_prev" });
  });

  test("replaces a link and computes its hash anew", async () => {
    const { lines, heads } = plainChain(5);
    const { line } = appendLink(heads[1] as Head, forged, sha256Hex);

    const verification = await verify(lines.with(2, line));
    expect(verification).toMatchObject({ ok: false, at: 3, seq: 3, reason: "wrong_prev" });
  });

  test("cuts the chain anywhere, if the head is known", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), async ({ lines, head }, pick) => {
        const at = pick % lines.length;
        const verification = await verify(lines.slice(0, at), head);
        expect(verification).toMatchObject({ ok: false, at, seq: at, reason: "truncated" });
      }),
      runs,
    );
  });

  test("rewrites the chain from some link on, if the head is known", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), async ({ lines, heads, head }, pick) => {
        const from = pick % lines.length;
        const start = heads[from - 1] ?? emptyHead(head.chain);
        const tail = chainOf(appendAll(start, () => forged, lines.length - from));
        const verification = await verify([...lines.slice(0, from), ...tail.lines], head);
        expect(verification).toMatchObject({ ok: false, at: head.seq, seq: head.seq, reason: "wrong_head" });
      }),
      runs,
    );
  });

  test("passes off another chain, or a link of one", async () => {
    const { lines, head } = plainChain(3);
    const other = plainChain(3, "run-8");

    expect(await verify(other.lines, head)).toMatchObject({ ok: false, at: 0, reason: "wrong_chain" });
    const mixed = lines.with(1, other.lines[1] ?? "");
    expect(await verify(mixed)).toMatchObject({ ok: false, at: 1, seq: 1, reason: "wrong_chain" });
  });

  test("goes on after the known head", async () => {
    const { lines, heads } = plainChain(5);

    expect(await verify(lines, heads[2])).toMatchObject({ ok: false, at: 3, reason: "beyond_head" });
    expect(await verify(lines, emptyHead("run-7"))).toMatchObject({ ok: false, at: 0, reason: "beyond_head" });
  });

  test("rewrites what an older head has seen, though the chain may have grown since", async () => {
    const { lines, heads } = plainChain(5);
    const known = { hash: sha256Hex, head: heads[2], mayContinue: true };
    const rewritten = plainChain(5, "run-7").lines.slice(0, 2);
    const start = heads[1] ?? emptyHead("run-7");
    const forged = chainOf(appendAll(start, () => ({ action_type: "Forged", at: 1, cause: null, data: {} }), 3)).lines;

    expect(await verifyChain(lines, known)).toMatchObject({ ok: true, links: 5 });
    expect(await verifyChain(lines.slice(0, 2), known)).toMatchObject({ ok: false, reason: "truncated" });
    expect(await verifyChain([...rewritten, ...forged], known)).toMatchObject({
      ok: false,
      at: 2,
      reason: "wrong_head",
    });
  });

  test("hands in something that is no chain at all", async () => {
    const { lines } = plainChain(2);

    await expect(verifyChain(lines.join("\n"), { hash: sha256Hex })).rejects.toThrow("use verifyJsonl");
    await expect(verifyChain(lines, {} as never)).rejects.toThrow("options.hash is missing");
    await expect(
      verifyChain(
        lines.map((line) => JSON.parse(line)),
        { hash: sha256Hex },
      ),
    ).rejects.toThrow("must be texts");
  });

  test("starts the chain in the middle", async () => {
    expect(await verify(plainChain(5).lines.slice(2))).toMatchObject({ ok: false, at: 0, seq: 2, reason: "wrong_seq" });
  });

  test("leaves nothing", async () => {
    expect(await verify([])).toMatchObject({ ok: false, at: 0, seq: null, reason: "empty" });
    expect(await verify([], plainChain(2).head)).toMatchObject({ ok: false, at: 0, seq: 0, reason: "truncated" });
  });
});

describe("verifyChain", () => {
  test("gives the same answer with an asynchronous hash", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), fc.nat(), async ({ lines, head }, line, character) => {
        const at = line % lines.length;
        const changed = flip(lines[at] ?? "", character);
        for (const candidate of [lines, lines.with(at, changed), lines.toSpliced(at, 1)]) {
          const verification = await verifyChain(candidate, { hash: subtleHash, head });
          expect(verification).toEqual(await verify(candidate, head));
        }
      }),
      { numRuns: 100 },
    );
  });

  test.each([
    [1, "its content does not match its hash", (line: string) => line.replace("0.0125", "0.0126")],
    [1, "not written as canonical JSON", (line: string) => line.replace(",", ", ")],
    [1, "it is not JSON", (line: string) => line.slice(1)],
  ])("says in a sentence what is wrong with line %i: %s", async (at, sentence, tamper) => {
    const { lines } = plainChain(3);

    const verification = await verify(lines.with(at, tamper(lines[at] ?? "")));
    expect(verification).toMatchObject({ ok: false, at, message: expect.stringContaining(sentence) });
    expect(verification).toMatchObject({ message: expect.stringMatching(/^Line 2\b.*\.$/) });
  });

  test("stops reading at the first bad line and closes its source", async () => {
    const { lines } = plainChain(4);
    const read: number[] = [];
    let isClosed = false;
    async function* source() {
      try {
        for (const [index, line] of lines.with(1, "{}").entries()) {
          read.push(index);
          yield line;
        }
      } finally {
        isClosed = true;
      }
    }

    expect(await verifyChain(source(), { hash: sha256Hex })).toMatchObject({ ok: false, at: 1 });
    expect(read).toEqual([0, 1]);
    expect(isClosed).toBe(true);
  });

  test("reads one line at a time, however long the chain is", async () => {
    let head = emptyHead("long");
    let made = 0;
    const read: number[] = [];
    function* source() {
      for (; made < 20_000; made++) {
        const appended = appendLink(head, forged, sha256Hex);
        head = appended.head;
        yield appended.line;
      }
    }
    const hash = (text: string) => {
      read.push(made);
      return sha256Hex(text);
    };

    expect(await verifyChain(source(), { hash })).toMatchObject({ ok: true, links: 20_000 });
    expect(read).toEqual(Array.from({ length: 20_000 }, (_, index) => index));
  });

  test("a failure of the source or of the hash is not taken for a bad chain", async () => {
    const { lines } = plainChain(2);
    async function* broken() {
      yield lines[0] ?? "";
      throw new Error("disk gone");
    }
    const hash = () => {
      throw new Error("no hash today");
    };

    await expect(verifyChain(broken(), { hash: sha256Hex })).rejects.toThrow("disk gone");
    await expect(verifyChain(lines, { hash })).rejects.toThrow("no hash today");
  });

  test("refuses a known head that cannot be one", async () => {
    await expect(verify([], { chain: "run-7", seq: 1, hash: "short" })).rejects.toThrow(/head's hash/);
  });
});

function flip(line: string, character: number): string {
  const index = character % line.length;
  return line.slice(0, index) + (line[index] === "x" ? "y" : "x") + line.slice(index + 1);
}
