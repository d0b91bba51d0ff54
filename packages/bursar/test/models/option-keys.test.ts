import { expect, test } from "vitest";
import { govern as governAi } from "../../src/models/ai/govern.js";
import { budget as anthropic } from "../../src/models/anthropic/budget.js";
import { type GovernedFetchOptions, governedFetch } from "../../src/models/fetch/governed-fetch.js";
import { budget as langchain } from "../../src/models/langchain/budget.js";
import { governedProvider } from "../../src/models/openai-agents/governed-provider.js";

/** All that whoever sends requests can be told about them. */
const WIRE: GovernedFetchOptions = {
  site: "summaries",
  full: true,
  wait_ms: 10,
  reuse: { in_flight: true },
  output_tokens: 100,
  tokenizer: false,
  reservations: "full",
  tiers: { lists: { auto: { tiers: [{ name: "large", model: "gpt-4" }] } } },
  prices: { "gpt-4": { input_usd_per_mtok: 1, output_usd_per_mtok: 1 } },
  assume: { input_usd_per_mtok: 1, output_usd_per_mtok: 1 },
  allow: { "openrouter.ai": ["provider"] },
};

/** As much of a model of the AI SDK as it takes to be governed. */
const MODEL = { modelId: "mine", doGenerate: () => {}, doStream: () => {} } as never;

test.each([
  ["governedFetch", (options: GovernedFetchOptions) => governedFetch(options)],
  ["the middleware of Anthropic", (options: GovernedFetchOptions) => anthropic(options)],
  ["LangChain", (options: GovernedFetchOptions) => langchain(options)],
  ["OpenAI Agents", (options: GovernedFetchOptions) => governedProvider({ ...options, apiKey: "k" })],
])("%s takes all that its type says, and nothing else", (_, open) => {
  expect(() => open(WIRE)).not.toThrow();
  for (const key of Object.keys(WIRE)) expect(() => open({ [`${key}s`]: 1 } as GovernedFetchOptions)).toThrow(key);
});

test.each([
  ["governedFetch", (options: GovernedFetchOptions) => governedFetch(options)],
  ["the middleware of Anthropic", (options: GovernedFetchOptions) => anthropic(options)],
  ["LangChain", (options: GovernedFetchOptions) => langchain(options)],
  ["OpenAI Agents", (options: GovernedFetchOptions) => governedProvider({ ...options, apiKey: "k" })],
  ["the AI SDK", (options: GovernedFetchOptions) => governAi(MODEL, options)],
])(
  "%s is told of a wrong price when it is opened, and not by the first call, as a failure of the network",
  (_, open) => {
    const wrong = (options: object) => () => open(options as GovernedFetchOptions);
    expect(wrong({ prices: { mine: { input: 1, output: 2 } } })).toThrow("prices.mine.input is not known here");
    expect(wrong({ assume: { input_usd_per_mtok: 1 } })).toThrow("assume.output_usd_per_mtok is undefined");
    expect(wrong({ output_tokens: "100" })).toThrow('output_tokens is "100"; allowed: a whole number from 1');
  },
);

test("the AI SDK has no wire to tell anything about", () => {
  expect(() => governAi({} as never, { site: "summaries" } as never)).toThrow("site");
});
