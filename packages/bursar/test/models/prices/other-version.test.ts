import { findProvider, type ModelInfo } from "@pydantic/genai-prices";
import { describe, expect, test } from "vitest";
import { openPrices } from "../../../src/models/prices/open-prices.js";
import { isOtherVersion } from "../../../src/models/prices/other-version.js";

const SONNET = { or: [{ starts_with: "claude-sonnet-5" }, { starts_with: "claude-5-sonnet" }] };

describe("a name that begins like that of a model in the table", () => {
  test.each([
    "claude-sonnet-5",
    "claude-sonnet-5-20260401",
    "claude-sonnet-5-latest",
    "claude-sonnet-5@20260401",
    "claude-sonnet-5-v1:0",
    "claude-sonnet-5-1m",
    "claude-sonnet-5-04-2026",
    "Claude-Sonnet-5",
    "claude-5-sonnet-2",
    "something else",
  ])("is not of another version: %s", (name) => {
    expect(isOtherVersion(name, SONNET)).toBe(false);
  });

  test.each(["claude-sonnet-5-5", "claude-sonnet-5.5", "claude-sonnet-5-5-20261101", "claude-sonnet-51"])(
    "is of another version: %s",
    (name) => {
      expect(isOtherVersion(name, SONNET)).toBe(true);
    },
  );

  test("counts as what it says where the table says it in more than one way", () => {
    const match = { or: [{ starts_with: "m-5" }, { equals: "m-5-5" }] };
    expect(isOtherVersion("m-5-5", match)).toBe(false);
    expect(isOtherVersion("m-5-6", match)).toBe(true);
    expect(isOtherVersion("m-5-6", { and: [{ starts_with: "m-5" }, { regex: "x$" }] })).toBe(false);
    expect(isOtherVersion("x-m-5-6", { contains: "m-5" })).toBe(true);
    expect(isOtherVersion("x-m-5", { ends_with: "m-5" })).toBe(false);
    expect(isOtherVersion("flash-001", { contains: "flash-0" })).toBe(false);
  });
});

test("a model that is newer than the table has no price, and is not taken for the one before it", async () => {
  const book = await openPrices({});
  const at = { url: "https://api.anthropic.com/v1/messages", protocol: "anthropic-messages" } as const;
  expect(book.find("claude-sonnet-5", at)?.source).toBe("table");
  expect(book.find("claude-sonnet-5-5", at)).toBeNull();
  expect(book.find("claude-opus-4-10", at)).toBeNull();
});

test("every model of the table is found by its own name", () => {
  const lost: string[] = [];
  for (const id of ["anthropic", "openai", "google", "mistral", "groq", "deepseek", "x-ai", "aws", "cohere"]) {
    const models: readonly ModelInfo[] = findProvider({ providerId: id })?.models ?? [];
    for (const model of models) if (isOtherVersion(model.id, model.match)) lost.push(`${id} ${model.id}`);
  }
  expect(lost).toEqual([]);
});
