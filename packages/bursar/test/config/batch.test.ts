import { expect, test } from "vitest";
import { type BatchSection, readConfig } from "../../src/config/config.js";
import { openBatches } from "../../src/models/batch/batches.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { complaints } from "./helpers.js";

const within = (text: string) => `foresight: { ${text} }`;
const read = (text: string) => readConfig(within(text)).foresight.batches;

test.each([
  ["batches: { provider: openai, model: gpt-5 }", { provider: "openai", model: "gpt-5" }],
  [
    "batches: { provider: anthropic, model: claude-sonnet-4-5, url: http://localhost:8080, key_env: ANTHROPIC_API_KEY }",
    {
      provider: "anthropic",
      model: "claude-sonnet-4-5",
      url: "http://localhost:8080",
      key_env: "ANTHROPIC_API_KEY",
    },
  ],
  [
    "batches: { provider: openai, model: m, window_ms: 1m, most_items: 500, poll_ms: 15s, longest_poll_ms: 600000, max_tokens: 99, price_factor: 0.4 }",
    {
      provider: "openai",
      model: "m",
      window_ms: 60_000,
      most_items: 500,
      poll_ms: 15_000,
      longest_poll_ms: 600_000,
      max_tokens: 99,
      price_factor: 0.4,
    },
  ],
  [
    "batches: { provider: openai, model: gpt-5, name: research }",
    { provider: "openai", model: "gpt-5", name: "research" },
  ],
])("%s", (text, section) => {
  const found = read(text) as BatchSection;
  expect(found).toEqual(section);
  // What the file may say is what the options take.
  const { key_env: _, ...options } = found;
  expect(() => openBatches({ ...options, store: new MemoryStore() })).not.toThrow();
});

test.each([
  ["batches: true", [/batches is true; allowed: a mapping with provider, model/]],
  ["batches: {}", [/has no provider; add it/, /has no model; add it/]],
  ["batches: { provider: other, model: 7 }", [/provider is "other"; allowed: openai, anthropic/, /model is 7/]],
  ["batches: { provider: openai, model: m, windows_ms: 1 }", [/windows_ms is not known here; did you mean window_ms/]],
  [
    "batches: { provider: openai, model: m, url: ftp://x, price_factor: 2, window_ms: soon, most_items: 0 }",
    [/url is no http/, /price_factor is 2/, /window_ms is "soon".*a time such as/, /most_items is 0/],
  ],
  ["batches: { provider: openai, model: m, name: 7 }", [/name is 7; allowed: what this account is called/]],
  [
    `batches: { provider: openai, model: m, name: "a${"b".repeat(100)}" }`,
    [/name is no name; allowed: 1 to 100 characters that can be printed/],
  ],
  [
    'batches: { provider: openai, model: m, name: "two\\nlines" }',
    [/name is no name; allowed: 1 to 100 characters that can be printed/],
  ],
])("%s is told what is wrong", (text, problems) => {
  expect(complaints(within(text))).toEqual(problems.map((each) => expect.stringMatching(each)));
});

test("what may be a key itself is not repeated", () => {
  const [complaint] = complaints(within("batches: { provider: openai, model: m, key_env: sk-secret-1 }"));
  expect(complaint).toMatch(/no name of an environment variable/);
  expect(complaint).not.toContain("secret");
});
