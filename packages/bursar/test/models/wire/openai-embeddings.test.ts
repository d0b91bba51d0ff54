import { describe, expect, test } from "vitest";
import type { Json } from "../../../src/core/chain/canonical.js";
import { InputError } from "../../../src/core/errors.js";
import { OPENAI_EMBEDDINGS } from "../../../src/models/wire/openai-embeddings.js";

function read(input: Json, model: Json = "text-embedding-3-small") {
  const body = { model, input };
  return OPENAI_EMBEDDINGS.read(body, { bytes: Buffer.byteLength(JSON.stringify(body)), compatible: false });
}

describe("embeddings", () => {
  test("have input alone, and are sent as they came", () => {
    const body = { model: "text-embedding-3-small", input: ["one", "zwei ü"], dimensions: 8 };

    const request = OPENAI_EMBEDDINGS.read(body, { bytes: 80, compatible: false });

    expect(request).toMatchObject({
      input_tokens: 144,
      output_tokens: 0,
      least_output: 0,
      caches: "no",
      hidden: false,
    });
    expect(request.texts?.pieces).toEqual(["one", "zwei ü"]);
    expect(request.held(0)).toEqual(body);
  });

  test("tokens are fewer than the bytes they are written in", () => {
    for (const input of [[1, 2, 3], [[1], [2, 3]], Array(1000).fill(0)]) {
      expect(read(input).input_tokens).toBeGreaterThan(input.flat().length);
      expect(read(input).beyond).toBeNull();
    }
  });

  test("what is neither text nor token is of unknown size, or cannot be read", () => {
    expect(read([{ image: "https://example.test/a.png" }]).beyond).toBe("input[0]");
    for (const input of [null, 5, {}, [null], [true]]) expect(() => read(input)).toThrow(InputError);
    expect(() => read("a", 5)).toThrow(InputError);
  });

  test.each([
    [{ usage: { prompt_tokens: 8, total_tokens: 8 } }, { input: 8, output: 0 }],
    [{ usage: { prompt_tokens: 0, total_tokens: 0 } }, null],
    [{ usage: { prompt_tokens: "8" } }, null],
    [{}, null],
  ])("usage of %j", (answer, counts) => {
    expect(OPENAI_EMBEDDINGS.usage(answer)).toEqual(counts);
  });
});
