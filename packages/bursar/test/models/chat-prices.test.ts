import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/chain/canonical.js";
import { type ChatModelOptions, chatModel } from "../../src/models/chat/chat.js";
import { openPrices } from "../../src/models/prices/open-prices.js";
import { openScriptedModel } from "../../src/testing/scripted-model.js";

const OWN = { input_usd_per_mtok: 3, output_usd_per_mtok: 15 };
const SAYS_HI = { choices: [{ message: { role: "assistant", content: "Hi." }, finish_reason: "stop" }] };

/** A model at an address that nobody has ever heard of. */
function modelOf(model: string, more: Partial<ChatModelOptions> = {}) {
  return chatModel({ url: "http://127.0.0.1:9/v1", model, max_tokens: 100, ...more });
}

/** What a call costs in dollars when the provider reports this usage. */
async function costOf(model: string, usage: Json, more: Partial<ChatModelOptions> = {}): Promise<unknown> {
  const body = JSON.stringify({ ...SAYS_HI, usage });
  await using server = await openScriptedModel({ script: [{ kind: "garbage", body }], models: [model] });
  const call = { signal: new AbortController().signal, key: "k" };
  const answer = await modelOf(model, { url: server.url, ...more }).call("Hi.", call);
  return (answer.usage as { cost_usd: number }).cost_usd;
}

describe("a chat model without stated prices", () => {
  test("takes them from the table, by its name", async () => {
    const quote = await modelOf("gpt-4o").quote("Hi.");
    const input = (quote as { llm_input_tokens: number }).llm_input_tokens;
    expect(quote).toMatchObject({ llm_output_tokens: 100, cost_usd: (input * 2500 + 100 * 10_000) / 1e9 });
    expect(await costOf("gpt-4o", { prompt_tokens: 1000, completion_tokens: 100 })).toBe(0.0035);
  });

  test("or by its address", async () => {
    const url = "https://api.groq.com/openai/v1";
    const quote = await modelOf("llama-3.3-70b-versatile", { url }).quote("Hi.");
    const input = (quote as { llm_input_tokens: number }).llm_input_tokens;
    expect(quote).toMatchObject({ cost_usd: (input * 590 + 100 * 790) / 1e9 });
  });

  test("does not call what the table does not know, unless a price is assumed", async () => {
    const unknown = modelOf("nobody-knows");
    await expect(async () => unknown.quote("Hi.")).rejects.toMatchObject({
      code: "unknown_price",
      message: expect.stringContaining('state it: prices: { "nobody-knows": {'),
    });
    expect(await unknown.quote("Hi.", { unpriced: true })).not.toHaveProperty("cost_usd");
    expect(await costOf("nobody-knows", { prompt_tokens: 1000, completion_tokens: 100 }, { assume: OWN })).toBe(0.0045);
    expect(await costOf("gpt-4o", { prompt_tokens: 1000, completion_tokens: 100 }, { assume: OWN })).toBe(0.0035);
  });

  test("says at once that a request or an assumed price makes no sense", () => {
    expect(() => modelOf("gpt-4o").quote(7)).toThrow("request is 7");
    expect(() => modelOf("gpt-4o", { assume: { input_usd_per_mtok: 1 } as never })).toThrow(
      "assume.output_usd_per_mtok",
    );
  });

  test("charges cached and written input at their own prices, and thinking as output", async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 100,
      prompt_tokens_details: { cached_tokens: 400, cache_write_tokens: 500 },
      completion_tokens_details: { reasoning_tokens: 90 },
    };
    // 100 plain at 2, 400 cached at 0.2, 500 written at 2.5, 100 of output at 10.
    expect(await costOf("gpt-6-sol", usage)).toBe((100 * 2000 + 400 * 200 + 500 * 2500 + 100 * 10_000) / 1e9);
  });
});

describe("a chat model with prices", () => {
  test("may have them in a price book, which knows the table too", async () => {
    const prices = await openPrices({ prices: { mine: OWN } });
    const model = modelOf("mine", { prices });
    const costs = ["mine", "gpt-4o"].map((name) => {
      const { cost_usd, llm_input_tokens } = model.quote({ prompt: "Hi.", model: name }) as Record<string, number>;
      return Math.round(((cost_usd ?? 0) * 1e9 - 100 * (name === "mine" ? 15_000 : 10_000)) / (llm_input_tokens ?? 1));
    });
    expect(costs).toEqual([3000, 2500]);
    expect(() => modelOf("nobody-knows", { prices })).toThrow('prices has none for "nobody-knows"; state it');
    expect(() => modelOf("mine", { prices, assume: OWN })).toThrow("assume stands beside a price book");
  });

  test("asks nobody else about other models, but may assume a price for them", () => {
    const prices = { mine: OWN };
    expect(() => modelOf("mine", { prices }).quote({ prompt: "Hi.", model: "gpt-4o" })).toThrow("there is no price");
    const quote = modelOf("mine", { prices, assume: OWN }).quote({ prompt: "Hi.", model: "gpt-4o" });
    const { llm_input_tokens = 0, cost_usd } = quote as Record<string, number>;
    expect(cost_usd).toBe((llm_input_tokens * 3000 + 100 * 15_000) / 1e9);
  });

  test.each([[null], [[]], ["free"]])("that are none says so: %j", (prices) => {
    expect(() => modelOf("mine", { prices: prices as never })).toThrow("prices is ");
  });

  test("may have one for a model that is called find", () => {
    expect(modelOf("find", { prices: { find: OWN } }).quote("Hi.")).toMatchObject({ llm_output_tokens: 100 });
  });

  test("quotes writes to a cache when the request asks for them, and not when it only speaks of them", () => {
    const prices = { mine: { ...OWN, cache_write_1h_usd_per_mtok: 7 } };
    const each = (part: Json) => {
      const request = { messages: [{ role: "user", content: [part] }] };
      const { cost_usd = 0, llm_input_tokens = 1 } = modelOf("mine", { prices }).quote(request) as Record<
        string,
        number
      >;
      return Math.round((cost_usd * 1e9 - 100 * 15_000) / llm_input_tokens);
    };
    expect(each({ type: "text", text: "Hi." })).toBe(3000);
    expect(each({ type: "text", text: '"cache_control":{"type":"ephemeral"}' })).toBe(3000);
    expect(each({ type: "text", text: "Hi.", cache_control: { type: "ephemeral" } })).toBe(6000);
    expect(each({ type: "text", text: "Hi.", cache_control: { type: "ephemeral", ttl: "1h" } })).toBe(7000);
  });
});
