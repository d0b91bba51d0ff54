import fc from "fast-check";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { boundByTokenizer, type Tokenizer, Tokenizers } from "../../../src/models/tokens/tokenizer-bound.js";

const MODELS = [
  { model: "gpt-5", count: o200k },
  { model: "gpt-4-turbo", count: cl100k },
] as const;

/** The count of the text as a whole, with nothing special in it. */
function whole(count: typeof o200k, text: string): number {
  return count(text, { disallowedSpecial: new Set() });
}

async function bound(model: string, ...pieces: readonly string[]): Promise<number> {
  const tokens = await boundByTokenizer({ pieces, around: 0 }, model);
  if (tokens === null) throw new Error(`nothing was counted for ${model}`);
  return tokens;
}

describe("the bound of a tokenizer", () => {
  test("is the exact count of ordinary texts, short ones and long ones", async () => {
    const prose = "It was the best of times, it didn't last; 1859 pages later:\n\n    const x = 漢字(12345);\n".repeat(
      300,
    );
    for (const { model, count } of MODELS) expect(await bound(model, prose)).toBe(whole(count, prose));
  });

  test("is never below the count, and never above the bytes, where there is no place to cut", async () => {
    const alphabets = [
      "a",
      " ",
      "ab",
      "\n",
      "-",
      "9",
      "漢",
      "ไ",
      "😀",
      "\u0301",
      "theandofing",
      " \t",
      "!?'",
      "zqxj",
      "\ud800",
    ];
    const texts = fc
      .tuple(fc.constantFrom(...alphabets), fc.integer({ min: 1, max: 1500 }), fc.infiniteStream(fc.nat(99)))
      .map(([alphabet, length, stream]) => {
        const units = [...alphabet];
        return Array.from({ length }, () => units[(stream.next().value ?? 0) % units.length] ?? "").join("");
      });
    for (const { model, count } of MODELS) {
      await fc.assert(
        fc.asyncProperty(texts, async (text) => {
          const tokens = await bound(model, text);
          expect(tokens).toBeGreaterThanOrEqual(whole(count, text));
          expect(tokens).toBeLessThanOrEqual(Buffer.byteLength(text));
        }),
        { numRuns: 100 },
      );
    }
  });

  test("adds what comes on top, and what each text has", async () => {
    const alone = [await bound("gpt-5", "Hello there,"), await bound("gpt-5", " you.")];
    expect(await boundByTokenizer({ pieces: ["Hello there,", " you."], around: 7 }, "gpt-5")).toBe(
      (alone[0] ?? 0) + (alone[1] ?? 0) + 7,
    );
    expect(await boundByTokenizer({ pieces: [], around: 7 }, "gpt-5")).toBe(7);
  });
});

/** A tokenizer that notes what it is given. */
function noting() {
  const texts: string[] = [];
  const forgotten: number[] = [];
  const tokenizer: Tokenizer = {
    count: (text) => {
      texts.push(text);
      return 1;
    },
    forget: () => {
      forgotten.push(texts.length);
    },
  };
  return { texts, forgotten, tokenizers: new Tokenizers(async () => tokenizer) };
}

describe("a tokenizer is spared", () => {
  test("texts that are too large in all", async () => {
    const { texts, tokenizers } = noting();
    expect(
      await tokenizers.bound({ pieces: ["a ".repeat(20_000), "b ".repeat(20_000)], around: 0 }, "gpt-5"),
    ).toBeNull();
    expect(await tokenizers.bound({ pieces: ["x".repeat(1_000_000)], around: 0 }, "gpt-5")).toBeNull();
    expect(texts).toEqual([]);
  });

  test("long stretches, whose bytes count", async () => {
    const { texts, tokenizers } = noting();
    const long = "ä".repeat(513);
    expect(await tokenizers.bound({ pieces: [`one ${long} two`], around: 0 }, "gpt-5")).toBe(1 + 1027 + 1);
    expect(texts).toEqual(["one", " two"]);
  });

  test("more than a bounded effort: words that it cannot just look up count for more of it", async () => {
    const { texts, tokenizers } = noting();
    const word = ` ${"q".repeat(255)}`;
    const counted = await tokenizers.bound({ pieces: [word.repeat(100)], around: 0 }, "gpt-5");
    expect(texts.join("")).toBe(word.repeat(32));
    expect(counted).toBe(texts.length + 68 * 256);
  });

  test("texts that have nearly as many tokens as bytes, once that has shown itself", async () => {
    const texts: string[] = [];
    const tokenizer: Tokenizer = {
      count: (text) => {
        texts.push(text);
        return Math.ceil(text.length / 2);
      },
      forget: () => {},
    };
    const tokenizers = new Tokenizers(async () => tokenizer);
    const text = "x ".repeat(30_000);
    expect(await tokenizers.bound({ pieces: [text], around: 0 }, "gpt-5")).toBeGreaterThan(50_000);
    expect(texts.join("").length).toBeGreaterThanOrEqual(8192);
    expect(texts.join("").length).toBeLessThan(8192 + 2 * 4096);
  });

  test("many calls, and large ones", async () => {
    const { texts, tokenizers } = noting();
    const text = "to be or not to be ".repeat(1000);
    await tokenizers.bound({ pieces: [text], around: 0 }, "gpt-5");
    expect(texts.join("")).toBe(text);
    expect(texts.map(({ length }) => Math.ceil(length / 4096))).toEqual(Array.from({ length: 5 }, () => 1));
  });

  test("the memory of all it has ever seen", async () => {
    const { forgotten, tokenizers } = noting();
    for (let count = 0; count < 40; count += 1) {
      await tokenizers.bound({ pieces: [`${count} `.repeat(15_000)], around: 0 }, "gpt-5");
    }
    expect(forgotten.length).toBe(1);
  });
});

describe("there is no bound by a tokenizer", () => {
  test("for a model whose encoding nobody knows", async () => {
    const { texts, tokenizers } = noting();
    const unknown = [
      "claude-opus-4-5",
      "gpt-6-sol",
      "gpt-4b",
      "llama3",
      "",
      "o100",
      "o3x",
      "x".repeat(100_000),
      "gpt-50",
    ];
    for (const model of unknown) expect(await tokenizers.bound({ pieces: ["a"], around: 0 }, model)).toBeNull();
    expect(texts).toEqual([]);
  });

  test.each([
    "gpt-5",
    "gpt-5-mini",

    "gpt-4o",
    "gpt-4o-mini-2024-07-18",
    "gpt-4.1-nano",
    "o1",
    "o3-mini",
    "o4-mini",

    "openai/gpt-4o",
    "ft:gpt-4o-mini:org::id",
    "GPT-4",
    "gpt-4-0613",
    "gpt-3.5-turbo-0125",
    "text-embedding-3-small",
    "chatgpt-4o-latest",
    "gpt-oss-120b",
    "gpt-4:x",
  ])("but there is one for %s", async (model) => {
    expect(await bound(model, "Hello there")).toBe(2);
  });

  test("where it is not installed, which is tried once", async () => {
    let tries = 0;
    const tokenizers = new Tokenizers(async () => {
      tries += 1;
      throw new Error("Cannot find package");
    });
    for (const _ of [1, 2]) expect(await tokenizers.bound({ pieces: ["a"], around: 0 }, "gpt-5")).toBeNull();
    expect(tries).toBe(1);
  });
});
