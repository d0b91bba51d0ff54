import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";
import { describe, expect, test } from "vitest";
import { withBudget } from "../../src/ambient/with-budget.js";
import type { JsonObject } from "../../src/core/chain/canonical.js";
import { govern } from "../../src/models/ai/govern.js";
import { openBatches } from "../../src/models/batch/batches.js";
import { chatModel } from "../../src/models/chat/chat.js";
import { governedFetch } from "../../src/models/fetch/governed-fetch.js";
import { Budget } from "../../src/prompt/budget.js";
import { openaiAdapter } from "../../src/prompt/providers/openai.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openScriptedModel, type ScriptedModel } from "../../src/testing/scripted-model.js";
import { opened } from "../gateway/opened.js";

const MODEL = "gpt-4o";
const PRICES = { [MODEL]: { input_usd_per_mtok: 1, output_usd_per_mtok: 10, context_window: 100_000 } };
const HELLO = [{ role: "user", content: "Hello?" }];
const LIMITS = { cost_usd: 10, steps: 100 };

/** What a request says beside its model and its message. */
const REFUSED: readonly JsonObject[] = [
  { fallbacks: ["o1-pro"] },
  { mock_testing_fallbacks: true },
  { context_window_fallback_dict: { a: "b" } },
  { providerOptions: { gateway: { models: ["o1-pro"] } } },
  { provider: { order: ["dear"] } },
  { preset: "mine" },
  { models: ["o1-pro"] },
  { route: "fallback" },
  { transforms: ["middle-out"] },
  { api_base: "http://a" },
  { extra_body: { google: { cached_content: "cachedContents/1" } } },
  { cached_content: "cachedContents/1" },
  { data_sources: [{ type: "azure_search" }] },
  { documents: ["a"] },
  { something_new: { a: 1 } },
  { web_search_options: {} },
  { plugins: [{ id: "web" }] },
  { search_parameters: { mode: "on" } },
  { enable_search: true },
  { service_tier: "priority" },
  { prediction: { type: "content", content: "a" } },
  { Model: "o1-pro" },
  { MODEL: null },
  { N: 20 },
  { Max_Tokens: 50_000 },
  { max_toKens: 50_000 },
  { maxTokens: 50_000 },
  { stream_options: { Include_Usage: false } },
  { Messages: [] },
  { "max_token\u017F": 5 },
  { reasoning: { effort: "low", mode: "pro" } },
  { reasoning: { Mode: "pro" } },
  { reasoning: { Effort: "high" } },
  { Fallbacks: ["o1-pro"] },
  { PROVIDER: {} },
  { Data_Sources: [{}] },
  { extra_body: { models: ["o1-pro"] } },
  { extra_body: { Google: { cached_content: "a" } } },

  { metadata: { tags: ["paid"] } },
  { n_predict: 50_000 },
  { max_new_tokens: 50_000 },
  { options: { num_predict: 50_000 } },
  { lora_path: "dear" },
];

/** The same with tools, which a prompt writes itself. */
const REFUSED_TOOLS: readonly JsonObject[] = [
  "web_search",
  "web_search_preview",
  "mcp",
  "code_interpreter",
  "file_search",
  "image_generation",
  "browser_search",
  "openrouter:web_search",
  "web_search_20250305",
  "x_search",
  "live_search",
].map((type) => ({ tools: [{ type }] }));

const OWN_FUNCTION = { type: "function", function: { name: "a" } };

const REFUSED_BELOW: readonly JsonObject[] = [
  ...["google_search", "googleSearch", "Google_Search", "google-search", "URL_CONTEXT", "MCP"].flatMap((name) => [
    { tools: [{ [name]: {} }] },
    { tools: [{ ...OWN_FUNCTION, [name]: {} }] },
  ]),
  ...["url_context", "web_search", "mcp", "server_url"].flatMap((name) => [
    { tools: [{ [name]: {} }] },
    { tools: [{ ...OWN_FUNCTION, [name]: {} }] },
  ]),
  { functions: [{ googleSearch: {} }] },
  { functions: [{ name: "a", url_context: {} }] },
  { functions: [{ type: "web_search" }] },
  { functions: [{ name: "a", Name: "b" }] },
  { tools: [{ type: "function", function: { name: "a", Name: "b" } }] },
  { tools: [{ type: "function", Type: "mcp", function: { name: "a" } }] },
  { messages: [{ role: "user", content: "a", Content: "b" }] },
  { messages: [{ role: "user", content: [{ type: "text", text: "a", Text: "b" }] }] },
  { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://a", URL: "https://b" } }] }] },
];

const SENT: readonly JsonObject[] = [
  {},

  { temperature: 0.5, top_p: 1, top_k: 5, seed: 1, stop: ["a"] },
  { user: "ann", metadata: { Model: "a", tags: "b" } },
  { fallbacks: null, provider: null, models: [], mock_testing_fallbacks: false, plugins: [] },

  { reasoning: { effort: "low", mode: "standard" } },
  { reasoning_effort: "low" },
  { chat_template_kwargs: { enable_thinking: false } },
  { guided_json: { Type: 1 } },
  { extra_body: { google: { thinking_config: { thinking_budget: 10 } } } },
  { service_tier: "default" },

  { service_tier: "on_demand" },
  { min_p: 0.1, repetition_penalty: 1.1, add_special_tokens: false, bad_words: ["a"] },
  { verbosity: "low" },
  { prompt_cache_key: "a", safety_identifier: "b", store: false, logit_bias: { 5: 1 } },
  { keep_alive: "5m" },
  { response_format: { type: "json_schema", json_schema: { name: "a", schema: { Type: "object" } } } },
];

type Door = (body: JsonObject, server: ScriptedModel) => Promise<unknown>;

async function post(send: typeof fetch, url: string, body: JsonObject): Promise<void> {
  const response = await send(`${url}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
}

const asker = defineAgent("asker", (ctx, request: JsonObject) => ctx.model(request));

/** The ways by which a request can come. */
const DOORS: Readonly<Record<string, Door>> = {
  governedFetch: (body, { url }) =>
    withBudget(LIMITS, () => post(governedFetch({ prices: PRICES }), url, { model: MODEL, messages: HELLO, ...body })),
  "ctx.model": async (body, { url }) => {
    const model = chatModel({ url, model: MODEL, prices: PRICES });
    await using bursar = openBursar({ store: new MemoryStore(), model, programs: [asker] });
    const result = await bursar.run("asker", { messages: HELLO, ...body }, { limits: LIMITS });
    if (result.status !== "completed") throw new Error(JSON.stringify(result));
  },
  batches: async (body, { url }) => {
    const about = { store: new MemoryStore(), provider: "openai", model: MODEL, prices: PRICES } as const;
    await using batches = openBatches({ ...about, url });
    await batches.terms({ messages: HELLO, ...body });
    // What was let in is sent with others later; here that is not waited for.
    await post(fetch, url, { model: MODEL, messages: HELLO, ...body });
  },
  prompt: async (parameters, { url }) => {
    const adapter = openaiAdapter({ url, model: MODEL, parameters });
    const budget = new Budget({ tokenLimit: { input: 10_000, output: 10_000 } });
    await adapter.evaluate({ name: "greeting", text: "Hello?" }, { budget });
  },
};

async function isSent(door: Door, body: JsonObject): Promise<boolean> {
  await using server = await openScriptedModel({ script: () => "Yes.", models: [MODEL] });
  const error = await door(body, server).then(
    () => null,
    (reason: unknown) => reason ?? "failed",
  );
  expect(server.requests.length).toBe(error === null ? 1 : 0);
  return error === null;
}

describe.each(Object.entries(DOORS))("%s", (name, door) => {
  test.each([...REFUSED, ...(name === "prompt" ? [] : [...REFUSED_TOOLS, ...REFUSED_BELOW])])(
    "does not send %j",
    async (body) => {
      expect(await isSent(door, body)).toBe(false);
    },
  );

  test.each(SENT)("sends %j", async (body) => {
    expect(await isSent(door, body)).toBe(true);
  });
});

test("what is refused says how to allow it", async () => {
  await using server = await openScriptedModel({ script: () => "Yes.", models: [MODEL] });
  const body = { model: MODEL, messages: HELLO, lora_path: "mine" };
  const asked = withBudget(LIMITS, () => post(governedFetch({ prices: PRICES }), server.url, body));
  for (const way of ['allow: { \\"<host>\\": [\\"lora_path\\"] }', "--allow '<host>=lora_path'", "BURSAR_ALLOW"]) {
    await expect(asked).rejects.toThrow(way);
  }
});

test.each([
  "gpt-4.1:online",
  "openai/gpt-4.1:ONLINE",
  "gpt-4.1:online:nitro",
  "gpt-4o-search-preview",
  "groq/compound",
  "groq/compound-mini",
  "compound-beta",
])("the model %s searches by itself, and is refused whatever its price is", async (model) => {
  await using server = await openScriptedModel({ script: () => "Yes.", models: [model] });
  const send = governedFetch({ prices: { [model]: PRICES[MODEL] } });
  const asked = withBudget(LIMITS, () => post(send, server.url, { model, messages: HELLO }));
  await expect(asked).rejects.toThrow("searches the web by itself");
  expect(server.requests).toEqual([]);
});

test("the gateway refuses and sends the same", async () => {
  await using at = await opened(() => "Yes.", LIMITS, { prices: PRICES });
  const statusOf = async (body: JsonObject) =>
    (await at.post("/v1/chat/completions", { model: MODEL, messages: HELLO, ...body })).status;
  for (const body of [...REFUSED, ...REFUSED_TOOLS, ...REFUSED_BELOW])
    expect([400, 402]).toContain(await statusOf(body));
  expect(at.model.requests).toEqual([]);
  for (const body of SENT) expect(await statusOf(body)).toBe(200);
  expect(at.model.requests).toHaveLength(SENT.length);
});

test("a model without a price at a host is not said to be mistyped for itself", async () => {
  const asked = (model: string) =>
    withBudget(LIMITS, () => post(governedFetch(), "https://api.deepseek.com", { model, messages: HELLO }));
  await expect(asked("gpt-4o")).rejects.toThrow('the model \\"gpt-4o\\", so');
  await expect(asked("gpt-4oo")).rejects.toThrow("did you mean gpt-4o?");
});

describe("what the operator allows", () => {
  const provider = { order: ["groq"] };

  test("is sent by governedFetch to that host alone, and bounded by the window where it brings input", async () => {
    await using server = await openScriptedModel({ script: () => "Yes.", models: [MODEL] });
    const { host } = new URL(server.url);
    const body = { model: MODEL, messages: HELLO, provider, data_sources: [{ type: "azure_search" }] };
    const allowed = governedFetch({ prices: PRICES, allow: { [host]: ["provider", "data_sources"] } });
    await withBudget(LIMITS, () => post(allowed, server.url, body));
    expect(server.requests[0]?.body).toMatchObject({ provider });
    await expect(withBudget({ cost_usd: 0.05 }, () => post(allowed, server.url, body))).rejects.toThrow("cost_usd");

    const elsewhere = governedFetch({ prices: PRICES, allow: { "openrouter.ai": ["provider", "data_sources"] } });
    await expect(withBudget(LIMITS, () => post(elsewhere, server.url, body))).rejects.toThrow(
      "provider lets the server",
    );
    expect(server.requests).toHaveLength(1);
  });

  test("is sent by a gateway to that upstream", async () => {
    await using server = await openScriptedModel({ script: () => "Yes.", models: [MODEL] });
    const upstreams = [
      { name: "open", url: server.url, allow: ["provider", "x-portkey-config", "?config"] },
      { name: "closed", url: server.url },
    ];
    await using at = await opened([], LIMITS, { prices: PRICES, upstreams });
    const body = { model: MODEL, messages: HELLO, provider };
    expect((await at.post("/open/v1/chat/completions?config=a", body)).status).toBe(200);
    expect((await at.post("/closed/v1/chat/completions", body)).status).toBe(402);
    expect((await at.post("/closed/v1/chat/completions?config=a", { ...body, provider: null })).status).toBe(402);
  });

  test("is sent by a chat model and in batches", async () => {
    await using server = await openScriptedModel({ script: () => "Yes.", models: [MODEL] });
    const options = { url: server.url, model: MODEL, prices: PRICES };
    const request = { messages: HELLO, provider };
    expect(() => chatModel(options).quote(request)).toThrow("provider lets the server");
    expect(chatModel({ ...options, allow: ["provider"] }).quote(request)).toMatchObject({
      network_egress_bytes: expect.any(Number),
    });
    const about = { store: new MemoryStore(), provider: "openai", allow: ["provider"] } as const;
    await using batches = openBatches({ ...options, ...about });
    expect(await batches.terms(request)).toMatchObject({ body: { provider } });
  });
});

test.each([
  "x-portkey-config",
  "x-portkey-virtual-key",
  "x-portkey-custom-host",
  "helicone-fallbacks",
  "x-litellm-tags",
  "azureml-model-deployment",
  "x-higress-llm-model",
  "x-ai-eg-model",
  "x-vertex-ai-llm-shared-request-type",
  "x-amzn-bedrock-service-tier",
  "x-amzn-bedrock-performanceconfig-latency",
])("the header %s is refused, and its harmless neighbours are not", async (name) => {
  await using server = await openScriptedModel({ script: () => "Yes.", models: [MODEL] });
  const send = governedFetch({ prices: PRICES });
  const post = (headers: Record<string, string>, search = "") =>
    send(`${server.url}/chat/completions${search}`, {
      method: "POST",
      headers,
      body: JSON.stringify({ model: MODEL, messages: HELLO }),
    });
  await withBudget(LIMITS, async () => {
    expect((await post({ [name.toUpperCase()]: "a" })).status).toBe(402);
    expect((await post({}, "?model=o1-pro")).status).toBe(402);
    expect(
      (await post({ "x-portkey-api-key": "a", "helicone-auth": "b", "x-device-model": "c" }, "?api-version=1")).status,
    ).toBe(200);
  });
});

test("a header that routes is refused in a prompt and in a call of the AI SDK as well", async () => {
  await using server = await openScriptedModel({ script: () => "Yes.", models: [MODEL] });
  const budget = new Budget({ tokenLimit: { input: 10_000, output: 10_000 } });
  const evaluate = (headers: Record<string, string>) =>
    openaiAdapter({ url: server.url, model: MODEL, headers }).evaluate({ name: "a", text: "Hello?" }, { budget });
  await expect(async () => evaluate({ "X-Portkey-Config": "a" })).rejects.toThrow("x-portkey-config");
  const model = govern(createOpenAI({ baseURL: server.url, apiKey: "k" }).chat(MODEL), { prices: PRICES });
  const generate = (headers: Record<string, string>) =>
    withBudget(LIMITS, () => generateText({ model, prompt: "Hello?", headers }));
  await expect(generate({ "X-Portkey-Config": "a" })).rejects.toThrow("x-portkey-config");
  expect(server.requests).toEqual([]);
  await evaluate({ "x-request-id": "a" });
  await generate({ "x-request-id": "a" });
  expect(server.requests).toHaveLength(2);
});
