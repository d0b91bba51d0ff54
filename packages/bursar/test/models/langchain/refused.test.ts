import { ChatOpenAI } from "@langchain/openai";
import { expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { budget } from "../../../src/models/langchain/budget.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { PRICES } from "./scene.js";

const OWN = { type: "function", function: { name: "look", parameters: {} } };

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["a fallback", { fallbacks: ["dear"] }],
  ["a fallback in other letters", { Fallbacks: ["dear"] }],
  ["a provider in other letters", { PROVIDER: { order: ["dear"] } }],
  ["a cached conversation", { extra_body: { google: { cached_content: "cachedContents/1" } } }],
  ["a hosted tool", { tools: [{ type: "openrouter:web_search" }] }],
  ["a hosted tool without a type", { tools: [{ google_search: {} }] }],
  ["a hosted tool beside a function", { tools: [{ ...OWN, googleSearch: {} }] }],
  ["a hosted tool among functions", { functions: [{ googleSearch: {} }] }],
  ["a search", { web_search_options: {} }],
])("%s is refused by the callbacks alone, and through the wire", async (_, modelKwargs) => {
  await using server = await openScriptedModel({ script: () => "Yes." });
  const { callbacks } = budget({ prices: PRICES });
  const wired = budget({ prices: PRICES });
  const about = { model: "scripted", apiKey: "k", maxTokens: 20, maxRetries: 0, modelKwargs };
  for (const governed of [
    { callbacks, configuration: { baseURL: server.url } },
    { configuration: { baseURL: server.url, fetch: wired.fetch } },
    { callbacks: wired.callbacks, configuration: { baseURL: server.url, fetch: wired.fetch } },
  ]) {
    const asked = withBudget({ cost_usd: 10 }, () => new ChatOpenAI({ ...about, ...governed }).invoke("Hello?"));
    await expect(asked).rejects.toThrow();
  }
  expect(server.requests).toEqual([]);
});
