import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { generateText, streamText, type ToolSet } from "ai";
import { describe, expect, test } from "vitest";
import { govern } from "../../../src/models/ai/govern.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { CLAUDE, GPT, modelOn, openScene, usedIn, WIRES } from "./scene.js";

/** Every class of tokens at a price of its own, so that no mistake goes unseen. */
const PRICE = {
  input_usd_per_mtok: 100,
  output_usd_per_mtok: 1000,
  cache_read_usd_per_mtok: 10,
  cache_write_usd_per_mtok: 125,
  cache_write_1h_usd_per_mtok: 200,
};
const PRICES = { [GPT]: PRICE, [CLAUDE]: PRICE };
const ROOMY = { cost_usd: 100 };

describe.for(WIRES)("classes of tokens, %s", (wire) => {
  test.for(["generate", "stream"])("cached and thought tokens have their own price (%s)", async (way) => {
    const usage = { prompt_tokens: 1000, completion_tokens: 50, cached_tokens: 600, reasoning_tokens: 30 };
    await using at = await openScene([{ kind: "text", text: "Yes.", usage }], ROOMY);
    const model = govern(modelOn(wire, at.server), { prices: PRICES });
    await at.budget.run(async () => {
      if (way === "generate") await generateText({ model, prompt: "Bolts?" });
      else await streamText({ model, prompt: "Bolts?" }).consumeStream();
    });
    expect(await usedIn(at.budget)).toMatchObject({
      llm_input_tokens: 1000,
      llm_output_tokens: 50,
      llm_tokens: 1050,
      cost_usd: 0.04 + 0.006 + 0.05,
    });
  });
});

describe("Anthropic's own", () => {
  const budgetOf = (budgetTokens: number) => ({ anthropic: { thinking: { type: "enabled" as const, budgetTokens } } });

  test.for(["generate", "stream"])("writes to its caches are told apart by their lifetime (%s)", async (way) => {
    const usage = { prompt_tokens: 1000, completion_tokens: 10, cache_write_tokens: 200, cache_write_1h_tokens: 300 };
    await using at = await openScene([{ kind: "text", text: "Yes.", usage }], ROOMY);
    const model = govern(modelOn("anthropic-messages", at.server), { prices: PRICES });
    const cacheControl = { type: "ephemeral" as const, ttl: "1h" as const };
    const options = { model, prompt: "Bolts?", providerOptions: { anthropic: { cacheControl } } };
    await at.budget.run(async () => {
      if (way === "generate") await generateText(options);
      else await streamText(options).consumeStream();
    });
    // 500 fresh, 200 for five minutes, 300 for an hour; the end of a stream tells the sum alone, but its start tells the parts.
    expect((await usedIn(at.budget)).cost_usd).toBeCloseTo(0.05 + 0.025 + 0.06 + 0.01, 9);
  });

  test("thinking comes on top of the output, and is held to what is left together with it", async () => {
    await using at = await openScene(() => "Yes.", { llm_output_tokens: 3000 });
    const model = govern(modelOn("anthropic-messages", at.server), { prices: PRICES });
    const ask = (budgetTokens: number, maxOutputTokens: number) =>
      at.budget.run(() =>
        generateText({ model, prompt: "Bolts?", maxOutputTokens, providerOptions: budgetOf(budgetTokens) }),
      );
    await ask(1500, 400);
    await ask(2000, 20_000);
    await ask(30_000, 500);
    const sent = at.server.requests.map(({ body }) => [
      body.max_tokens,
      (body.thinking as { budget_tokens: number }).budget_tokens,
    ]);
    expect(sent).toEqual([
      [1900, 1500],
      [2999, 2000],
      [2998, 2997],
    ]);
  });

  test("a call that cannot even think as little as the provider allows is not made", async () => {
    await using at = await openScene(() => "Yes.", { llm_output_tokens: 1000 });
    const model = govern(modelOn("anthropic-messages", at.server), { prices: PRICES });
    const asked = at.budget.run(() => generateText({ model, prompt: "Bolts?", providerOptions: budgetOf(5000) }));
    await expect(asked).rejects.toBeInstanceOf(BudgetExceededError);
    expect(at.server.count).toBe(0);
  });

  test("a stream that thinks is charged what was held when it breaks, because it may have thought more than it showed", async () => {
    const answer = { kind: "half", text: "word ".repeat(50), thinking: "hm ".repeat(20), events: 6 } as const;
    await using at = await openScene([answer], ROOMY);
    const model = govern(modelOn("anthropic-messages", at.server), { prices: PRICES });
    const { fullStream } = at.budget.run(() =>
      streamText({ model, prompt: "Bolts?", maxOutputTokens: 1000, providerOptions: budgetOf(1024) }),
    );
    const reading = (async () => {
      for await (const _ of fullStream);
    })();
    await expect(reading).rejects.toThrow();
    expect(await usedIn(at.budget)).toMatchObject({ llm_output_tokens: 2024 });
  });
});

describe("what nobody can bound", () => {
  test("tools that a provider runs by itself are not offered to it", async () => {
    await using at = await openScene(() => "Yes.", ROOMY);
    const openai = createOpenAI({ baseURL: at.server.url, apiKey: "k" });
    const anthropic = createAnthropic({ baseURL: at.server.url, apiKey: "k" });
    const calls = [
      { model: govern(openai.responses(GPT), { prices: PRICES }), tools: { search: openai.tools.webSearch({}) } },
      {
        model: govern(anthropic(CLAUDE), { prices: PRICES }),
        tools: { search: anthropic.tools.webSearch_20250305({}) },
      },
    ];
    for (const { model, tools } of calls) {
      const error = await at.budget.run(() =>
        generateText({ model, prompt: "Bolts?", tools: tools as ToolSet }).catch((each: unknown) => each),
      );
      expect(BudgetExceededError.from(error)?.report).toMatchObject({ code: "unbounded" });
      expect((error as Error).message).toContain("web_search");
    }
    const model = govern(anthropic(CLAUDE), { prices: PRICES });
    const tools = { bash: anthropic.tools.bash_20250124({ execute: () => "" }) };
    await at.budget.run(() => generateText({ model, prompt: "Bolts?", tools: tools as ToolSet }));
    expect(at.server.count).toBe(1);
  });

  test("another tier is refused", async () => {
    await using at = await openScene(() => "Yes.", ROOMY);
    for (const wire of ["openai-chat", "openai-responses"] as const) {
      const model = govern(modelOn(wire, at.server), { prices: PRICES });
      const providerOptions = { openai: { serviceTier: "priority" } };
      const asked = at.budget.run(() => generateText({ model, prompt: "Bolts?", providerOptions }));
      await expect(asked).rejects.toMatchObject({ report: { code: "unbounded" } });
    }
    expect(at.server.count).toBe(0);
  });

  test("at OpenAI's own address, the ordinary tier is asked for by name", async () => {
    await using at = await openScene(() => "Yes.", ROOMY);
    // Requests to the provider's own address end up here, as behind a proxy.
    const sent = (input: string | URL | Request, init?: RequestInit) =>
      fetch(String(input).replace("https://api.openai.com/v1", at.server.url), init);
    const openai = createOpenAI({ apiKey: "k", fetch: sent });
    for (const model of [openai.chat(GPT), openai.responses(GPT)]) {
      await at.budget.run(() => generateText({ model: govern(model, { prices: PRICES }), prompt: "Bolts?" }));
    }
    expect(at.server.requests.map(({ body }) => body.service_tier)).toEqual(["default", "default"]);
  });

  test("a model without a price, a call outside of any budget and a limit said elsewhere", async () => {
    await using at = await openScene(() => "word ".repeat(500), { llm_output_tokens: 30, cost_usd: 1 });
    const plain = createOpenAI({ baseURL: at.server.url, apiKey: "k" });
    const nameless = govern(plain.chat("nobody-knows-this"));
    const asked = at.budget.run(() => generateText({ model: nameless, prompt: "Bolts?" }));
    await expect(asked).rejects.toMatchObject({ report: { code: "unknown_price" } });
    const outside = generateText({ model: govern(plain.chat(GPT)), prompt: "Bolts?" });
    await expect(outside).rejects.toMatchObject({ report: { code: "no_budget" } });
    expect(at.server.count).toBe(0);
    const model = govern(plain.chat(GPT), { prices: PRICES, budget: at.budget });
    await generateText({ model, prompt: "Bolts?", providerOptions: { openai: { maxCompletionTokens: 900 } } });
    expect(at.server.requests.map(({ max_tokens }) => max_tokens)).toEqual([30]);
  });
});

test("only models can be governed, with options that exist", () => {
  expect(() => govern("openai/gpt-5" as never)).toThrow("model");
  expect(() => govern({ modelId: "x", provider: "y", specificationVersion: "v3" })).toThrow("model");
  const model = createOpenAI({ apiKey: "k" }).chat(GPT);
  expect(() => govern(model, { price: {} } as never)).toThrow("price");
  expect(() => govern(model, { budget: {} as never })).toThrow("budget");
  const governed = govern(model);
  const { modelId, provider, specificationVersion } = governed;
  expect([modelId, provider, specificationVersion]).toEqual([GPT, "openai.chat", model.specificationVersion]);
});
