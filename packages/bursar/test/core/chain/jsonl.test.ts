import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Head } from "../../../src/core/chain/link.js";
import { type Verification, verifyChain, verifyJsonl } from "../../../src/core/chain/verify.js";
import { sha256Hex } from "../../../src/runtime/crypto.js";
import { chain, plainChain } from "./arbitraries.js";

type Chunk = string | Uint8Array;

function verify(chunks: Iterable<Chunk>, head?: Head): Promise<Verification> {
  return verifyJsonl(chunks, { hash: sha256Hex, head });
}

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Cuts bytes at the given places, whatever they are in the middle of. */
function cut(bytes: Uint8Array, cuts: readonly number[]): Uint8Array[] {
  const places = cuts.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
  return [...places, bytes.length].map((end, index) => bytes.subarray(places[index - 1] ?? 0, end));
}

describe("verifyJsonl", () => {
  test("gives the same answer wherever the stream is cut", async () => {
    const cuts = fc.array(fc.nat(), { maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(chain, cuts, fc.boolean(), async ({ lines, head }, places, endsWithLineFeed) => {
        const bytes = encode(lines.join("\n") + (endsWithLineFeed ? "\n" : ""));
        expect(await verify(cut(bytes, places), head)).toEqual(await verifyChain(lines, { hash: sha256Hex, head }));
      }),
      { numRuns: 300 },
    );
  });

  test("takes one byte at a time", async () => {
    const { lines, head } = plainChain(3);
    const bytes = Array.from(encode(`${lines.join("\n")}\n`), (byte) => Uint8Array.of(byte));

    expect(await verify(bytes, head)).toMatchObject({ ok: true, links: 3 });
  });

  test("takes text, also when it is cut inside a surrogate pair, and text and bytes in turns", async () => {
    const { lines, head } = plainChain(3);
    const file = `${lines.join("\n")}\n`;
    const middle = file.indexOf("😀") + 1;

    expect(await verify([file], head)).toMatchObject({ ok: true, links: 3 });
    expect(await verify([file.slice(0, middle), file.slice(middle)], head)).toMatchObject({ ok: true });
    expect(
      await verify([file.slice(0, 99), encode(file.slice(99, middle - 1)), "", file.slice(middle - 1)], head),
    ).toMatchObject({ ok: true });
  });

  test("reads a file as Node gives it", async () => {
    const { lines, head } = plainChain(500);
    async function* stream() {
      const bytes = encode(`${lines.join("\n")}\n`);
      for (let at = 0; at < bytes.length; at += 1000) yield bytes.subarray(at, at + 1000);
    }

    expect(await verifyJsonl(stream(), { hash: sha256Hex, head })).toMatchObject({ ok: true, links: 500 });
    expect(await verifyJsonl(stream(), { hash: async (text) => sha256Hex(text), head })).toMatchObject({ ok: true });
  });

  test("finds any changed byte, and names the line it is in", async () => {
    await fc.assert(
      fc.asyncProperty(chain, fc.nat(), fc.integer({ min: 1, max: 255 }), async ({ lines, head }, place, mask) => {
        const bytes = encode(`${lines.join("\n")}\n`);
        const index = place % bytes.length;
        const at = bytes.subarray(0, index).filter((byte) => byte === 0x0a).length;
        bytes[index] = (bytes[index] ?? 0) ^ mask;
        expect(await verify(cut(bytes, [place * 7, place * 13]), head)).toMatchObject({ ok: false, at });
      }),
      { numRuns: 1000 },
    );
  });
});

describe("verifyJsonl refuses", () => {
  const { lines } = plainChain(3);
  const [first = "", second = "", third = ""] = lines;

  test("nothing at all", async () => {
    expect(await verify([])).toMatchObject({ ok: false, reason: "empty" });
    expect(await verify([""])).toMatchObject({ ok: false, reason: "empty" });
    expect(await verify([new Uint8Array(0)])).toMatchObject({ ok: false, reason: "empty" });
  });

  test("empty lines, at the end too", async () => {
    expect(await verify(["\n"])).toMatchObject({ ok: false, at: 0, reason: "malformed" });
    expect(await verify([`${first}\n\n${second}\n`])).toMatchObject({ ok: false, at: 1, reason: "malformed" });
    expect(await verify([`${lines.join("\n")}\n\n`])).toMatchObject({ ok: false, at: 3, reason: "malformed" });
  });

  test("carriage returns", async () => {
    const verification = await verify([`${lines.join("\r\n")}\r\n`]);
    expect(verification).toMatchObject({ ok: false, at: 0, reason: "not_canonical" });
    expect(verification).toMatchObject({ message: expect.stringContaining("carriage return") });
  });

  test("a byte order mark", async () => {
    expect(await verify([Uint8Array.of(0xef, 0xbb, 0xbf), encode(first)])).toMatchObject({ ok: false, at: 0 });
  });

  test("bytes that are not UTF-8, even where a decoder would put the very character that was hashed", async () => {
    const replaced = plainChain(3, "\ufffd");
    const bytes = encode(replaced.lines.join("\n"));
    const at = bytes.indexOf(0xef, replaced.lines[0]?.length);
    const damaged = Uint8Array.from([...bytes.subarray(0, at), 0xff, ...bytes.subarray(at + 3)]);

    expect(await verify([bytes])).toMatchObject({ ok: true });
    for (const chunks of [
      [damaged],
      cut(damaged, [at]),
      cut(damaged, [at + 1]),
      [...damaged].map((it) => Uint8Array.of(it)),
    ]) {
      const verification = await verify(chunks);
      expect(verification).toMatchObject({ ok: false, at: 1, reason: "malformed" });
      expect(verification).toMatchObject({ message: "Line 2: it is not valid UTF-8." });
    }
  });

  test("a character that never ends, also when text follows it", async () => {
    const half = encode("😀").subarray(0, 2);

    expect(await verify([encode(`${first}\n`), half])).toMatchObject({ ok: false, at: 1, reason: "malformed" });
    expect(await verify([encode(`${first}\n`), half, second])).toMatchObject({ ok: false, at: 1, reason: "malformed" });
    expect(await verify([encode(`${first}\n`), half, encode(second)])).toMatchObject({ at: 1, reason: "malformed" });
  });

  test("an earlier bad line first, though a later one in the same chunk is not UTF-8", async () => {
    const bytes = [...encode(`${first}\n${second.replace("0.0125", "0.0126")}\n`), 0xff, ...encode(`\n${third}`)];

    expect(await verify([Uint8Array.from(bytes)])).toMatchObject({ ok: false, at: 1, reason: "hash_mismatch" });
  });

  test("a line without end, before it fills the memory", async () => {
    let given = 0;
    function* endless() {
      yield `${first}\n`;
      for (; ; given++) yield "x".repeat(1024 * 1024);
    }

    const verification = await verify(endless());
    expect(verification).toMatchObject({ ok: false, at: 1, seq: null, reason: "malformed" });
    expect(verification).toMatchObject({ message: expect.stringContaining("longer than") });
    expect(given).toBeLessThan(20);
  });

  test("a long line in one piece, after the good ones before it", async () => {
    const long = "x".repeat(17 * 1024 * 1024);

    expect(await verify([`${first}\n${long}\n${second}`])).toMatchObject({ ok: false, at: 1, reason: "malformed" });
    expect(await verify([`${second}\n${long}\n`])).toMatchObject({ ok: false, at: 0, reason: "wrong_seq" });
  });
});
