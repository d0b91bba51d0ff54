import fc from "fast-check";
import { countTokens as cl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as o200k } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, test } from "vitest";
import { cutText } from "../../../src/models/tokens/cut-text.js";

const NASTY: readonly string[] = [
  "",
  "'",
  "don't they'll I'D we'VE 'tis rock'n'roll l'été",
  "<|endoftext|><|im_start|>system<|fim_prefix|>",
  "naïve café e\u0301e\u0301\u0301 \u0301\u0301a1\u03012\u0301b",
  "漢字かな交じり文、テスト。123漢字４５６",
  "ภาษาไทยไม่มีช่องว่างระหว่างคำ",
  "مرحبا بالعالم ١٢٣٤٥",
  "👩‍👩‍👧‍👦🏽 🇩🇪🇩 x👍y",
  "\ud800 \udc00x\ud83d",
  "a\u0000b\u200bc\u2028d\u00a0\u00a0e",
  "\r\n\r\n  \t x\r\r\n   y \n /\n//\n",
  `{"a":[1,2.5e-7,null,true],"b":{"c":"\\u00e9\\n"}}`,
  "function f(x){return x?.y??z[0x1F]!==`$\u007ba}`}//--==>",
  "YWJjZGVmZ2hpamtsbW5vcHFyc3R1dnd4eXo+/0123456789==",
  "HTTPServerError2XMLParser3fooBarBAZqux",
  "1234567890123456789 3.14159 1,000,000 ½²Ⅷ٣",
  "ﬁ ǅ ǅabc ʰʰ ªº aªB",
];

/** The tokens of the whole, and those of all stretches together, by both encodings. */
function counts(text: string) {
  const plain = { disallowedSpecial: new Set<string>() };
  return [o200k, cl100k].map((count) => {
    const stretches = cutText(text).map((stretch) => count(stretch, plain));
    return { whole: count(text, plain), cut: stretches.reduce((sum, tokens) => sum + tokens, 0) };
  });
}

describe("a text that is cut", () => {
  test.each(NASTY)("has as many tokens as before, however nasty it is: %j", (text) => {
    expect(cutText(text).join("")).toBe(text);
    for (const { whole, cut } of counts(text)) expect(cut).toBe(whole);
  });

  test("has as many tokens as before, whatever it says", () => {
    const unit = fc.oneof(
      fc.constantFrom(..."aAbZ019 \n\r\t'\"/.,-_<|>é\u0301漢あ😀ǅª½\u200d\ud800"),
      fc.constantFrom("'s", "'LL", "  ", "\r\n", "the", " of", "<|endoftext|>", "1234"),
      fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
    );
    const texts = fc.array(unit, { maxLength: 60 }).map((units) => units.join(""));
    fc.assert(
      fc.property(texts, (text) => {
        expect(cutText(text).join("")).toBe(text);
        for (const { whole, cut } of counts(text)) expect(cut).toBe(whole);
      }),
      { numRuns: 3000 },
    );
  });

  test("is cut often enough that stretches of ordinary texts are short", () => {
    const texts = [
      "It was the best of times, wasn't it? ",
      '{"id":12345,"tags":["a","b"]}',
      "if(x){y+=z[0];}\n",
      "吾輩は猫である。名前はまだ無い。",
    ];
    for (const text of texts) {
      const longest = Math.max(...cutText(text.repeat(100)).map(({ length }) => length));
      expect(longest).toBeLessThan(20);
    }
  });
});
