import { createOpenAI } from "@ai-sdk/openai";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import { generateText } from "ai";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../src/ambient/open-budget.js";
import { withBudget } from "../../src/ambient/with-budget.js";
import type { JsonObject } from "../../src/core/chain/canonical.js";
import { type Link, parseLine } from "../../src/core/chain/link.js";
import type { BudgetLimits } from "../../src/core/input.js";
import { govern } from "../../src/models/ai/govern.js";
import { openBatches } from "../../src/models/batch/batches.js";
import { chatModel } from "../../src/models/chat/chat.js";
import { governedFetch } from "../../src/models/fetch/governed-fetch.js";
import { budget as langchainBudget } from "../../src/models/langchain/budget.js";
import { govern as governAgents } from "../../src/models/openai-agents/govern.js";
import { governedProvider } from "../../src/models/openai-agents/governed-provider.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { Gate } from "../../src/runtime/gate.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openScriptedModel } from "../../src/testing/scripted-model.js";
import { opened } from "../gateway/opened.js";

const MODEL = "my-finetune";
const HELLO = [{ role: "user", content: "Hello?" }];
const BODY = { model: MODEL, messages: HELLO, max_tokens: 20 };
const serving = () => openScriptedModel({ script: () => "Yes.", models: [MODEL] });

const asker = defineAgent("asker", (ctx, request: JsonObject) => ctx.model(request));
const parent = defineAgent("parent", (ctx, request: JsonObject) => ctx.spawn("asker", request, "share"));

async function ask(send: typeof fetch, url: string, body: JsonObject = BODY): Promise<Response> {
  return send(`${url}/chat/completions`, { method: "POST", body: JSON.stringify(body) });
}

async function linksOf(store: MemoryStore, chain: string): Promise<readonly Link[]> {
  const links: Link[] = [];
  for await (const line of store.chain(chain)) links.push(parseLine(line));
  return links;
}

/** The links about money that a chain has. */
async function moneyIn(store: MemoryStore, chain: string) {
  const links = await linksOf(store, chain);
  const unknown = links.filter(({ action_type }) => action_type === "CostUnknown");
  // A reservation that was handed down is corrected to nothing at all, which says nothing of the call.
  const charges = links.filter(({ event, data }) => event === "Consumption" && data.corrects === undefined);
  const ends = links.filter(({ event }) => event === "RunCompleted");
  const text = JSON.stringify([...charges, ...ends]);
  return { unknown, claimed: text.includes("cost_usd"), links };
}

describe("a model without a price", () => {
  test("is asked where no budget limits money; tokens are counted, and the chain says that the cost is unknown", async () => {
    await using server = await serving();
    const store = new MemoryStore();
    const budget = await openBudget({ steps: 2, llm_tokens: 5_000 }, { store });
    const send = governedFetch({ budget });
    expect((await ask(send, server.url)).status).toBe(200);
    const { used } = await budget.state();
    expect(used.llm_tokens).toBeGreaterThan(0);
    expect(used.steps).toBe(1);
    const { id } = budget;
    await budget.end();
    const { unknown, claimed } = await moneyIn(store, id);
    expect(unknown).toMatchObject([
      { data: { budget: id, capability_id: `llm:${MODEL}`, call_id: expect.any(String) } },
    ]);
    expect(claimed).toBe(false);
  });

  test("is held to the other limits", async () => {
    await using server = await serving();
    const budget = await openBudget({ steps: 1, llm_tokens: 500 });
    const send = governedFetch({ budget });
    expect((await ask(send, server.url, { ...BODY, max_tokens: 5_000 })).status).toBe(200);
    expect(server.requests[0]?.body.max_tokens).toBeLessThan(500);
    expect((await ask(send, server.url)).status).toBe(402);
    await budget.end();
  });

  test("that breaks off is charged the tokens that it may have had, and its cost is unknown all the same", async () => {
    const store = new MemoryStore();
    const budget = await openBudget({ llm_tokens: 5_000 }, { store });
    const broken: typeof fetch = () => Promise.reject(new Error("socket hang up"));
    await expect(ask(governedFetch({ budget, fetch: broken }), "http://127.0.0.1:1/v1")).rejects.toThrow("hang up");
    const { used } = await budget.state();
    expect(used.llm_output_tokens).toBe(20);
    const { unknown, claimed } = await moneyIn(store, budget.id);
    expect([unknown.length, claimed]).toEqual([1, false]);
    await budget.end();
  });

  test.each<[string, readonly BudgetLimits[]]>([
    ["the budget itself", [{ cost_usd: 1, steps: 5 }]],
    ["the one around it", [{ cost_usd: 1 }, { steps: 5 }]],
    ["one further out", [{ cost_usd: 1 }, { steps: 5 }, { llm_tokens: 10_000 }]],
  ])("is refused where %s limits money", async (_, limits) => {
    await using server = await serving();
    const within = ([first = {}, ...rest]: readonly BudgetLimits[]): Promise<Response> =>
      withBudget(first, () => (rest.length === 0 ? ask(governedFetch(), server.url) : within(rest)));
    const response = await within(limits);
    expect(response.status).toBe(402);
    expect(await response.text()).toContain("unknown_price");
    expect(server.requests).toEqual([]);
  });

  test("is refused where a limit of money only warns", async () => {
    await using server = await serving();
    const budget = await openBudget({ cost_usd: 1 }, { policies: { cost_usd: "soft_warn" } });
    expect((await ask(governedFetch({ budget }), server.url)).status).toBe(402);
    await budget.end();
  });

  test("is asked through a gateway whose keys limit no money, and refused where they do", async () => {
    await using server = await serving();
    const upstreams = [{ name: "local", url: server.url }];
    await using free = await opened(() => "Yes.", { steps: 5, cost_usd: null }, { upstreams });
    const answered = await free.post("/v1/chat/completions", BODY);
    expect(answered.status).toBe(200);
    expect(answered.headers.get("x-bursar-used-cost-usd")).toBeNull();
    expect(answered.headers.get("x-bursar-used-llm-tokens")).not.toBeNull();
    await using limited = await opened(() => "Yes.", { steps: 5, cost_usd: 1 }, { upstreams });
    expect((await limited.post("/v1/chat/completions", BODY)).status).toBe(402);
  });

  test.each([
    ["a run", "asker"],
    ["a child that shares its budget", "parent"],
  ])("is asked by %s without a limit of money", async (_, program) => {
    await using server = await serving();
    const store = new MemoryStore();
    const model = chatModel({ url: server.url, model: MODEL });
    await using bursar = openBursar({ store, model, programs: [asker, parent] });
    const request = { messages: HELLO };
    const done = await bursar.run(program, request, { limits: { cost_usd: null, steps: 5 }, id: "free" });
    expect(done).toMatchObject({ status: "completed" });
    const { unknown, claimed } = await moneyIn(store, "free");
    expect([unknown.length, claimed]).toEqual([1, false]);
    // The terms of a run limit money unless they say otherwise.
    const refused = await bursar.run(program, request);
    expect(JSON.stringify(refused)).toContain("there is no price for the model");
    expect(server.requests).toHaveLength(1);
  });

  test("is asked in a batch", async () => {
    const store = new MemoryStore();
    await using batches = openBatches({ store, provider: "openai", model: MODEL, url: "http://127.0.0.1:1/v1" });
    await expect(batches.terms({ messages: HELLO })).rejects.toMatchObject({ code: "unknown_price" });
    using gate = new Gate({ store });
    for (const [budget, limits] of [
      ["free", { steps: 5, cost_usd: null }],
      ["limited", { steps: 5 }],
    ] as const) {
      await gate.open(budget, { limits });
    }
    const purse = (budget: string) => ({ gate, store, budget, chain: budget });
    await batches.hand(purse("free"), { messages: HELLO }, { id: "one" });
    await expect(batches.hand(purse("limited"), { messages: HELLO })).rejects.toMatchObject({ code: "unknown_price" });
    const links = await linksOf(store, "free");
    expect(links.find(({ action_type }) => action_type === "Batched")?.data).toMatchObject({
      quote_usd: null,
      full_quote_usd: null,
    });
    await batches.forget("one");
  });
});

// Traces go to OpenAI's own server.
setTracingDisabled(true);

/** What asks a model by an SDK, at an address. */
const ADAPTERS: Readonly<Record<string, (url: string) => Promise<unknown>>> = {
  "the AI SDK": (url) =>
    generateText({ model: govern(createOpenAI({ baseURL: url, apiKey: "k" }).chat(MODEL)), prompt: "Hello?" }),
  "the AI SDK over a governed wire": (url) => {
    const provider = createOpenAI({ baseURL: url, apiKey: "k", fetch: governedFetch() });
    return generateText({ model: govern(provider.chat(MODEL)), prompt: "Hello?" });
  },
  "LangChain's callbacks": (url) => {
    const { callbacks } = langchainBudget();
    const configuration = { baseURL: url };
    return new ChatOpenAI({ model: MODEL, apiKey: "k", maxTokens: 20, callbacks, configuration }).invoke("Hello?");
  },
  "LangChain over its wire": (url) => {
    const { callbacks, fetch } = langchainBudget();
    const configuration = { baseURL: url, fetch };
    return new ChatOpenAI({ model: MODEL, apiKey: "k", maxTokens: 20, callbacks, configuration }).invoke("Hello?");
  },
  "the Agents SDK": (url) => {
    const modelProvider = governAgents(new OpenAIProvider({ apiKey: "k", baseURL: url }));
    return new Runner({ modelProvider }).run(new Agent({ name: "Greeter", model: MODEL }), "Hello?");
  },
  "the Agents SDK over its wire": (url) => {
    const modelProvider = governedProvider({ apiKey: "k", baseURL: url });
    return new Runner({ modelProvider }).run(new Agent({ name: "Greeter", model: MODEL }), "Hello?");
  },
};

test.each(Object.entries(ADAPTERS))(
  "is asked by %s without a limit of money, and refused with one",
  async (_, asked) => {
    await using server = await serving();
    const store = new MemoryStore();
    const free = await openBudget({ steps: 5, llm_tokens: 50_000 }, { store });
    await free.run(() => asked(server.url));
    expect((await free.state()).used).toMatchObject({ steps: 1, llm_tokens: expect.any(Number) });
    const { unknown, claimed } = await moneyIn(store, free.id);
    // What an adapter has held is handed down to the wire, which tells it once.
    expect([unknown.length, claimed]).toEqual([1, false]);
    await free.end();
    const limited = await openBudget({ steps: 5, cost_usd: 1 }, { store });
    await expect(limited.run(() => asked(server.url))).rejects.toThrow("no price");
    expect(server.requests).toHaveLength(1);
    await limited.end();
  },
);
