import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import { generateText, streamText } from "ai";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { type TieredOptions, tiered } from "../../../src/models/ai/tiered.js";
import { budget as anthropicBudget } from "../../../src/models/anthropic/budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { budget as chainBudget } from "../../../src/models/langchain/budget.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { govern } from "../../../src/models/openai-agents/govern.js";
import { governedProvider } from "../../../src/models/openai-agents/governed-provider.js";
import { openScriptedModel, type ScriptedModel } from "../../../src/testing/scripted-model.js";
import { ANSWER, PRICES, switchesIn, tiersOf } from "./scene.js";

setTracingDisabled(true);

/** Enough for two calls at the best tier and some at the others. */
const LIMITS = { cost_usd: 0.2 };

function open(): Promise<ScriptedModel> {
  return openScriptedModel({ script: () => ANSWER, models: Object.keys(PRICES) });
}

function called({ requests }: ScriptedModel): readonly unknown[] {
  return requests.map(({ body }) => (body as JsonObject).model);
}

/** Does something eight times inside a budget, and gives what was called and what the chain tells of it. */
async function eight(provider: ScriptedModel, ask: () => Promise<unknown>) {
  await using budget = await openBudget(LIMITS);
  await budget.run(async () => {
    for (let call = 0; call < 8; call++) await ask();
  });
  const { used } = await budget.state();
  expect(used.cost_usd).toBeLessThanOrEqual(LIMITS.cost_usd);
  expect(used.steps).toBe(8);
  return { models: called(provider), switches: await switchesIn(budget.purse.store, budget.purse.chain) };
}

describe("the AI SDK", () => {
  const models = (at: ScriptedModel, fetch?: typeof globalThis.fetch) => {
    const openai = createOpenAI({ baseURL: at.url, apiKey: "k", ...(fetch && { fetch }) });
    return {
      large: openai.chat("gpt-4-large"),
      medium: openai.chat("gpt-4-medium"),
      small: openai.chat("gpt-4-small"),
    };
  };
  const model = (at: ScriptedModel, more: TieredOptions = {}) => tiered(models(at), { prices: PRICES, ...more });
  const ASK = { prompt: "Hello?", maxOutputTokens: 1000, maxRetries: 0 } as const;

  test("is given several models, of which the best is asked that fits", async () => {
    await using at = await open();
    const several = model(at);
    const { models: asked, switches } = await eight(at, () => generateText({ ...ASK, model: several }));
    expect(asked[0]).toBe("gpt-4-large");
    expect(asked.at(-1)).toBe("gpt-4-small");
    expect(switches.map(({ to }) => to.tier)).toEqual([...new Set(switches.map(({ to }) => to.tier))]);
  });

  test("streams, takes pins, and hands down to a governed wire", async () => {
    await using at = await open();
    const several = tiered(models(at, governedFetch({ prices: PRICES })), { prices: PRICES });
    const used = await withBudget({ cost_usd: 1 }, async (budget) => {
      const pinned = { providerOptions: { bursar: { tier: "small" } } };
      for await (const _ of streamText({ ...ASK, ...pinned, model: several }).textStream);
      await generateText({ ...ASK, model: several });
      return (await budget.state()).used;
    });
    expect(called(at)).toEqual(["gpt-4-small", "gpt-4-large"]);
    expect(used).toMatchObject({ steps: 2, cost_usd: 0.004_02 + 0.064_32 });
  });

  test("looks at what a call needs, and keeps above the floor", async () => {
    await using at = await open();
    const several = model(at, { tiers: tiersOf({ floor: "medium" }) });
    const image = { type: "image" as const, image: new Uint8Array([1, 2, 3]), mediaType: "image/png" };
    await withBudget({ cost_usd: 0.06 }, async () => {
      await generateText({ ...ASK, model: several });
      const messages = [{ role: "user" as const, content: [image] }];
      await generateText({ model: several, messages, maxOutputTokens: 10, maxRetries: 0 });
    });
    expect(called(at)).toEqual(["gpt-4-medium", "gpt-4-large"]);
  });

  test("refuses models that do not stand for the tiers", () => {
    const at = { url: "http://localhost:1/v1" } as ScriptedModel;
    const { large } = models(at);
    expect(() => tiered({ large }, { tiers: tiersOf() })).toThrow('none for the tier "medium"');
    expect(() => tiered({})).toThrow("models");
  });
});

describe("LangChain", () => {
  test("is watched by the callback and switched by the wire, and a call counts once", async () => {
    await using at = await open();
    const pieces = chainBudget({ prices: PRICES, tiers: tiersOf() });
    const { configuration, callbacks } = pieces.openai;
    const chat = new ChatOpenAI({
      model: "bursar/auto",
      apiKey: "k",
      maxTokens: 1000,
      maxRetries: 0,
      callbacks,
      configuration: { baseURL: at.url, ...configuration },
    });

    const { models } = await eight(at, () => chat.invoke("Hello?"));

    expect(models[0]).toBe("gpt-4-large");
    expect(models.at(-1)).toBe("gpt-4-small");
  });

  test("the callback alone cannot switch, and says so", async () => {
    await using at = await open();
    const { callbacks } = chainBudget({ prices: PRICES, tiers: tiersOf() });
    const configuration = { baseURL: at.url };
    const chat = new ChatOpenAI({ model: "bursar/auto", apiKey: "k", maxRetries: 0, callbacks, configuration });
    const error = await withBudget(LIMITS, () => chat.invoke("Hello?").catch((each: unknown) => each));
    expect(BudgetExceededError.from(error)?.report.message).toContain("only the wire");
    expect(at.requests).toHaveLength(0);
  });
});

describe("the OpenAI Agents SDK", () => {
  const agent = (more: object = {}) =>
    new Agent({ name: "Asked", model: "bursar/auto", modelSettings: { maxTokens: 1000, ...more } });

  test.each([
    [
      "its models",
      (url: string) => govern(new OpenAIProvider({ apiKey: "k", baseURL: url }), { prices: PRICES, tiers: tiersOf() }),
    ],
    ["its wire", (url: string) => governedProvider({ apiKey: "k", baseURL: url, prices: PRICES, tiers: tiersOf() })],
  ])("switches %s", async (_, provide) => {
    await using at = await open();
    const runner = new Runner({ modelProvider: provide(at.url) });
    const { models, switches } = await eight(at, () => runner.run(agent(), "Hello?"));
    expect(models[0]).toBe("gpt-4-large");
    expect(models.at(-1)).toBe("gpt-4-small");
    expect(switches[0]).toMatchObject({ from: null, to: { tier: "large" } });
  });

  test("takes a pin among what is passed on, and does not pass it on", async () => {
    await using at = await open();
    const provider = new OpenAIProvider({ apiKey: "k", baseURL: at.url });
    const runner = new Runner({ modelProvider: govern(provider, { prices: PRICES, tiers: tiersOf() }) });
    await withBudget({ cost_usd: 1 }, async () => {
      await runner.run(agent({ providerData: { bursar: { tier: "small" } } }), "Hello?");
      const streamed = await runner.run(agent(), "Hello?", { stream: true });
      for await (const _ of streamed);
      await streamed.completed;
    });
    expect(called(at)).toEqual(["gpt-4-small", "gpt-4-large"]);
    expect(at.requests[0]?.body).not.toHaveProperty("bursar");
  });

  test("keeps the calls of a step at the tier of the first, whatever the others do", async () => {
    await using at = await open();
    const provider = new OpenAIProvider({ apiKey: "k", baseURL: at.url });
    const runner = new Runner({ modelProvider: govern(provider, { prices: PRICES, tiers: tiersOf() }) });
    const chapter = agent({ providerData: { bursar: { step: "chapter 1" } } });
    await using budget = await openBudget({ cost_usd: 0.5 });
    await budget.run(async () => {
      await runner.run(chapter, "Hello?");
      while (called(at).at(-1) !== "gpt-4-medium") await runner.run(agent(), "Hello?");
      await runner.run(chapter, "Hello?");
      const streamed = await runner.run(chapter, "Hello?", { stream: true });
      for await (const _ of streamed);
      await streamed.completed;
      await runner.run(agent(), "Hello?");
    });
    expect(called(at)[0]).toBe("gpt-4-large");
    expect(called(at).slice(-4, -1)).toEqual(["gpt-4-medium", "gpt-4-large", "gpt-4-large"]);
    expect(called(at).at(-1)).not.toBe("gpt-4-large");
    for (const { body } of at.requests) expect(body).not.toHaveProperty("bursar");
  });
});

test("the Anthropic SDK is switched by its middleware", async () => {
  await using at = await open();
  const middleware = [anthropicBudget({ prices: PRICES, tiers: tiersOf() })];
  const client = new Anthropic({ baseURL: at.origin, apiKey: "k", middleware, maxRetries: 0 });
  const messages = [{ role: "user" as const, content: "Hello?" }];
  const { models } = await eight(at, () =>
    client.messages.create({ model: "bursar/auto", max_tokens: 1000, messages }),
  );
  expect(models[0]).toBe("gpt-4-large");
  expect(models.at(-1)).toBe("gpt-4-small");
});
