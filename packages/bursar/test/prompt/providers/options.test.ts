import { describe, expect, test } from "vitest";
import { Budget } from "../../../src/prompt/budget.js";
import { evaluate } from "../../../src/prompt/evaluate.js";
import { ProviderError, type ProviderRequest } from "../../../src/prompt/provider.js";
import { anthropicAdapter, anthropicProvider } from "../../../src/prompt/providers/anthropic.js";
import type { ModelOptions } from "../../../src/prompt/providers/model-options.js";
import { openaiAdapter, openaiProvider } from "../../../src/prompt/providers/openai.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";

const MAKERS = [
  { name: "openaiProvider", make: openaiProvider },
  { name: "openaiAdapter", make: openaiAdapter },
  { name: "anthropicProvider", make: anthropicProvider },
  { name: "anthropicAdapter", make: anthropicAdapter },
];

describe.each(MAKERS)("$name", ({ make }) => {
  const fieldOf = (options: object | undefined): string => {
    try {
      make(options as ModelOptions);
    } catch (error) {
      return (error as { field?: string }).field ?? String(error);
    }
    return "none";
  };

  test("takes a model alone", () => {
    expect(fieldOf({ model: "gpt-4o" })).toBe("none");
  });

  test("refuses nothing at all", () => {
    expect(fieldOf(undefined)).toMatch(/^options(?:\.model)?$/);
  });

  test.each([
    [{}, "options.model"],
    [{ model: 7 }, "options.model"],
    [{ model: "m", modle: 1 }, "options.modle"],
    [{ model: "m", apiKey: "two words" }, "options.apiKey"],
    [{ model: "m", url: "nowhere" }, "options.url"],
    [{ model: "m", url: "file:///etc/passwd" }, "options.url"],
    [{ model: "m", url: "https://me:secret@provider.example" }, "options.url"],
    [{ model: "m", fetch: 7 }, "options.fetch"],
    [{ model: "m", headers: { "a b": "c" } }, "options.headers"],
    [{ model: "m", headers: { a: "b\nc" } }, "options.headers"],
    [{ model: "m", maxOutputTokens: 0 }, "options.maxOutputTokens"],
    [{ model: "m", maxOutputTokens: 1.5 }, "options.maxOutputTokens"],
    [{ model: "m", maxOutputTokens: Number.NaN }, "options.maxOutputTokens"],
    [{ model: "m", timeout_ms: 0 }, "options.timeout_ms"],
    [{ model: "m", timeout_ms: 2 ** 31 }, "options.timeout_ms"],
    [{ model: "m", stream: "yes" }, "options.stream"],
    [{ model: "m", parameters: [] }, "options.parameters"],
    [{ model: "m", parameters: { model: "other" } }, "options.parameters.model"],
    [{ model: "m", parameters: { max_tokens: 1_000_000 } }, "options.parameters.max_tokens"],
    [{ model: "m", parameters: { tools: [] } }, "options.parameters.tools"],
    [{ model: "m", parameters: { service_tier: "priority" } }, "request"],
  ])("refuses %o", (options, field) => {
    expect(fieldOf(options)).toBe(field);
  });
});

test("an interface that OpenAI does not have is refused, and Anthropic has but one", () => {
  expect(() => openaiAdapter({ model: "m", api: "messages" as "chat" })).toThrow("options.api");
  expect(() => anthropicAdapter({ model: "m", api: "chat" } as ModelOptions)).toThrow("options.api");
});

test("what nobody can bound is refused before anything is asked", () => {
  const responses = (parameters: ModelOptions["parameters"] & object) => () =>
    openaiAdapter({ model: "gpt-5", api: "responses", parameters });
  expect(responses({ background: true })).toThrow("background");
  expect(responses({ previous_response_id: "resp_1" })).toThrow("nobody can tell");
  expect(() => openaiAdapter({ model: "gpt-4o", parameters: { n: 4 } })).toThrow("options.parameters.n");
  expect(() => openaiAdapter({ model: "gpt-4o-search-preview" })).toThrow("searches the web");
  expect(() => anthropicAdapter({ model: "claude-x", parameters: { mcp_servers: [{}] } })).toThrow("mcp_servers");
});

test("limits that the provider would not take are refused before anything is asked", () => {
  const thinking = { type: "enabled", budget_tokens: 5_000 };
  expect(() => openaiAdapter({ model: "gpt-5", api: "responses", maxOutputTokens: 15 })).toThrow("16 or more");
  expect(() => anthropicAdapter({ model: "c", maxOutputTokens: 1_024, parameters: { thinking } })).toThrow("1025");
  expect(() => anthropicAdapter({ model: "c", parameters: { thinking } })).toThrow("thinking alone");
  expect(() => anthropicAdapter({ model: "c", maxOutputTokens: 5_001, parameters: { thinking } })).not.toThrow();
});

test.each([
  ["", "/v1/messages"],
  ["/", "/v1/messages"],
  ["/v1", "/v1/messages"],
  ["/v1/messages", "/v1/messages"],
])("Anthropic's base address may end in %o", async (base, path) => {
  await using model = await openScriptedModel({ script: ["Hello."] });
  const adapter = anthropicAdapter({ model: "scripted", url: `${model.origin}${base}` });

  await adapter.evaluate({ name: "greeting", text: "Hello?" });

  expect(model.requests.map((request) => request.path)).toEqual([path]);
});

test("a model of OpenAI's that does not think is not asked for what it thought", async () => {
  await using model = await openScriptedModel({ script: ["Hello."], models: ["gpt-4o"] });
  const adapter = openaiAdapter({ model: "gpt-4o", url: `${model.url}/`, api: "responses" });

  await adapter.evaluate({ name: "greeting", text: "Hello?" });

  expect(model.requests[0]?.body).not.toHaveProperty("include");
});

test("a provider alone goes with evaluate", async () => {
  await using model = await openScriptedModel({ script: ["Hello."] });
  const provider = anthropicProvider({ model: "scripted", url: model.origin });
  const budget = new Budget({ tokenLimit: { input: 1_000, output: 100 } });

  const { text } = await evaluate(provider, { name: "greeting", text: "Hello?" }, { budget });

  expect(text).toBe("Hello.");
});

test("a provider that is asked for too little output, or too late, sends nothing", async () => {
  await using model = await openScriptedModel({ script: ["Hello."] });
  const provider = openaiProvider({ model: "scripted", url: model.url, api: "responses" });
  const request: ProviderRequest = {
    promptName: "greeting",
    evaluation: {},
    messages: [{ role: "user", content: "Hello?" }],
    tools: [],
    maxOutputTokens: 15,
    signal: AbortSignal.abort(),
  };

  const errors = await Promise.all(
    [15, 16].map((maxOutputTokens) => provider.complete({ ...request, maxOutputTokens }).catch((error) => error)),
  );

  for (const error of errors) {
    expect(error).toBeInstanceOf(ProviderError);
    expect(error).toMatchObject({ usage: { input: 0, output: 0 } });
  }
  expect(model.count).toBe(0);
});

test("the bound on input is no less than the bytes of what is sent", async () => {
  await using model = await openScriptedModel({ script: ["Hello."] });
  const sent: string[] = [];
  const send: typeof fetch = (input, init) => {
    sent.push(String(init?.body));
    return fetch(input, init);
  };
  const text = "Grüße, 世界! ".repeat(50);
  const provider = openaiProvider({ model: "scripted", url: model.url, fetch: send });
  const request: ProviderRequest = {
    promptName: "greeting",
    evaluation: {},
    messages: [{ role: "user", content: text }],
    tools: [],
    maxOutputTokens: 50,
    signal: new AbortController().signal,
  };

  const quote = await provider.quote?.(request);
  await provider.complete(request);

  expect(quote?.input).toBeGreaterThanOrEqual(Buffer.byteLength(sent.join("")));
});
