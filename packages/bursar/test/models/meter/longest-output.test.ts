import { expect, test } from "vitest";
import { longestOutput } from "../../../src/models/meter/longest-output.js";
import { openaiModel } from "../../../src/models/wire/openai-models.js";

test.each([
  ["gpt-3.5-turbo-0125", 4096],
  ["gpt-4", 4096],
  ["gpt-4-0613", 4096],
  ["gpt-4-turbo-2024-04-09", 4096],
  ["gpt-4-1106-preview", 4096],
  ["gpt-4o-2024-05-13", 4096],
  ["gpt-4o", 16_384],
  ["gpt-4o-mini-2024-07-18", 16_384],
  ["chatgpt-4o-latest", 16_384],
  ["gpt-4.1-nano", 32_768],
  ["gpt-5-mini", 128_000],
  ["gpt-5.1", 128_000],
  ["gpt-5-chat-latest", 16_384],
  ["gpt-5.2-chat-latest", 16_384],
  ["gpt-5-pro", 272_000],
  ["o1-mini", 65_536],
  ["o1-preview", 32_768],
  ["o1", 100_000],
  ["o3-mini", 100_000],
  ["o4-mini-2025-04-16", 100_000],
])("%s answers with %d tokens at most", (model, tokens) => {
  expect(longestOutput(model)).toBe(tokens);
  expect(longestOutput(`openai/${model}`)).toBe(tokens);
  expect(longestOutput(`some/gateway/${model.toUpperCase()}`)).toBe(tokens);
  expect(longestOutput(`ft:${model}:acme::abc`)).toBe(tokens);
});

test.each(["", "llama3.2", "o10-giant", "gpt-50", "gpt-5000", "my-gpt-4o", "claude-opus-4-5", "ft:", "/"])(
  "of %j it is not known",
  (model) => {
    expect(longestOutput(model)).toBeNull();
  },
);

test("the same prefixes hide no model that answers without thinking", () => {
  for (const name of ["gpt-4o", "openai/gpt-4o", "azure/eu/gpt-4o-mini", "ft:gpt-4o-mini:acme", "GPT-4.1"]) {
    expect(openaiModel(name).thinks, name).toBe(false);
  }
  for (const name of ["o3", "openai/o3", "gpt-5", "ft:gpt-5:acme", "a-model-of-ours"]) {
    expect(openaiModel(name).thinks, name).toBe(true);
  }
});
