import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { type Link, parseLine } from "../../../src/core/chain/link.js";
import type { BudgetLimits } from "../../../src/core/input.js";
import { openBatches } from "../../../src/models/batch/batches.js";
import { type GovernedFetchOptions, governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { chargeAnswer } from "../../../src/models/meter/answer-charge.js";
import { DearerAnswers } from "../../../src/models/prices/dearer-answers.js";
import { extraOf } from "../../../src/models/prices/extra.js";
import { openPrices } from "../../../src/models/prices/open-prices.js";
import { claimsIn, NO_CLAIMS } from "../../../src/models/wire/answer-claims.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { HOUR_MS, Scene } from "../batch/scene.js";
import { openRestating, type Restated } from "./restating-server.js";

const GPT = "gpt-4o-mini";
const CHAT = { model: GPT, messages: [{ role: "user", content: "Hello?" }], max_tokens: 500 };
const PLAIN = 0.000027;
const LIMITS: BudgetLimits = { cost_usd: 10, llm_tokens: null, steps: 100 };

const naming = (model: string): Restated => ({ text: (text) => text.replaceAll(`"${GPT}"`, `"${model}"`) });
const within = (more: string): Restated => ({ text: (text) => text.replaceAll(/("total_tokens":\d+)/g, `$1,${more}`) });

async function scene(restated: Restated, limits: BudgetLimits = LIMITS, options: GovernedFetchOptions = {}) {
  const server = await openRestating(restated);
  const store = new MemoryStore();
  const budget = await openBudget(limits, { store });
  const send = governedFetch(options);
  return {
    server,
    store,
    budget,
    ask: async (more: JsonObject = {}, path = "/chat/completions", headers: Readonly<Record<string, string>> = {}) => {
      const body = JSON.stringify({ ...CHAT, ...more });
      const response = await budget.run(() => send(`${server.url}${path}`, { method: "POST", headers, body }));
      const text = await response.text();
      return { status: response.status, text };
    },
    used: async () => (await budget.state()).used.cost_usd,
    links: async (type?: string): Promise<readonly Link[]> => {
      const links: Link[] = [];
      for await (const line of store.chain(budget.id)) links.push(parseLine(line));
      return type === undefined ? links : links.filter(({ action_type }) => action_type === type);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

describe("how an answer was served", () => {
  const served = (tier: string): Restated => ({
    text: (text) => text.replaceAll('"service_tier":"default"', `"service_tier":"${tier}"`),
  });

  test.each(["default", "auto", "flex", "batch", "scale", "standard", "on_demand"])(
    "%s is charged as before",
    async (tier) => {
      await using at = await scene(served(tier));
      await at.ask();
      await at.ask({ stream: true });
      expect(await at.used()).toBe(2 * PLAIN);
      expect(await at.links("AnswerDearer")).toEqual([]);
      expect(await at.links("AnswerUnpriced")).toEqual([]);
    },
  );

  test("priority costs twice as much, also when a stream says so in its last event only", async () => {
    await using at = await scene(served("priority"));
    await at.ask();
    expect(await at.used()).toBe(2 * PLAIN);
    at.server.restate(within('"service_tier":"priority"'));
    await at.ask({ stream: true });
    expect(await at.used()).toBe(4 * PLAIN);
    const [first, second] = await at.links("AnswerDearer");
    for (const each of [first, second]) {
      expect(each?.data).toMatchObject({
        priced_usd: PLAIN,
        charged_usd: 2 * PLAIN,
        answered: { service_tier: expect.stringContaining("priority") },
      });
    }
  });

  test.each(["Priority", "PRIORITY"])("so does %s", async (tier) => {
    await using at = await scene(served(tier));
    await at.ask();
    expect(await at.used()).toBe(2 * PLAIN);
  });

  test("an unknown tier is charged as before, and told", async () => {
    await using at = await scene(served("turbo"));
    await at.ask();
    expect(await at.used()).toBe(PLAIN);
    expect((await at.links("AnswerUnpriced"))[0]?.data).toMatchObject({ answered: { service_tier: "turbo" } });
  });

  test.each([
    ['"speed":"fast"', 6],
    ['"inference_geo":"us"', 1.1],
    ['"inference_geo":"us","speed":"fast"', 6],
    ['"service_tier":"priority","inference_geo":"global","speed":"standard"', 1],
  ])("Anthropic's %s costs %d times as much", async (said, factor) => {
    await using at = await scene({ text: (text) => text.replace(/("usage":\{)/, `$1${said},`) });
    const asked = { model: "claude-haiku-4-5" };
    await at.ask(asked, "/messages");
    expect(await at.used()).toBeCloseTo(0.0002 * factor, 9);
    await at.ask({ ...asked, stream: true }, "/messages");
    expect(await at.used()).toBeCloseTo(0.0004 * factor, 4);
  });
});

test("a stream that names many models is charged as the last of them costs", async () => {
  const store = new MemoryStore();
  const budget = await openBudget(LIMITS, { store });
  const names = [...Array.from({ length: 20 }, (_, number) => `cheap-${number}`), "o1-pro"];
  const event = (model: string) => ({ object: "chat.completion.chunk", model, choices: [{ delta: { content: "a" } }] });
  const last = { ...event("o1-pro"), usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 } };
  const events = [...names.map(event), last].map((each) => `data: ${JSON.stringify(each)}\n\n`);
  const headers = { "content-type": "text/event-stream" };
  const send = governedFetch({ fetch: async () => new Response(`${events.join("")}data: [DONE]\n\n`, { headers }) });
  const body = JSON.stringify({ ...CHAT, stream: true });
  const url = "https://many-names.example/v1/chat/completions";
  await (await budget.run(() => send(url, { method: "POST", body }))).text();
  await expect.poll(async () => (await budget.state()).used.cost_usd).toBeCloseTo(0.027, 6);
});

describe("an answer that is dearer than what is left", () => {
  test("is charged all the same, and the budget is overdrawn and exhausted", async () => {
    await using at = await scene(within('"cost":0.75'), { ...LIMITS, cost_usd: 0.5 });
    expect((await at.ask()).status).toBe(200);
    expect(await at.used()).toBe(0.75);
    expect((await at.links()).some(({ event }) => event === "Exhausted")).toBe(true);
    expect((await at.ask()).status).toBe(402);
    expect(at.server.model.count).toBe(1);
  });

  test("makes other budgets of the process reserve as much, also in another client", async () => {
    await using at = await scene(within('"cost":0.75'));
    await at.ask();
    const send = governedFetch();
    const post = async (model: string) => {
      const other = await openBudget({ cost_usd: 0.5 }, { store: new MemoryStore() });
      const body = JSON.stringify({ ...CHAT, model });
      return other.run(() => send(`${at.server.url}/chat/completions`, { method: "POST", body }));
    };
    expect((await post(GPT)).status).toBe(402);
    // Of other models nothing is known, nor of this one elsewhere.
    expect((await post("claude-haiku-4-5")).status).toBe(200);
    await using elsewhere = await scene({}, { cost_usd: 0.5 });
    expect((await elsewhere.ask()).status).toBe(200);
  });

  test("whose cost is some percent higher does not make small calls as dear as a large one was", async () => {
    let usage: JsonObject = {};
    const fetch: typeof globalThis.fetch = async () =>
      Response.json({ model: GPT, choices: [{ message: { content: "Yes" } }], usage });
    const send = governedFetch({ fetch });
    const ask = async (cost_usd: number, content: string, said: JsonObject) => {
      usage = { completion_tokens: 20, ...said };
      const budget = await openBudget({ ...LIMITS, cost_usd }, { store: new MemoryStore() });
      const body = JSON.stringify({ ...CHAT, messages: [{ role: "user", content }] });
      const url = "https://five-percent.example/v1/chat/completions";
      return (await budget.run(() => send(url, { method: "POST", body }))).status;
    };
    const large = "x".repeat(600_000);
    expect(await ask(1, large, { prompt_tokens: 600_000, cost: 0.0945126 })).toBe(200);
    expect(await ask(0.001, "Hello?", { prompt_tokens: 100, cost: 0.00002835 })).toBe(200);
    // The same request again is held for as much.
    expect(await ask(0.0944, large, {})).toBe(402);
    // A fee is no share of a small request: it counts whole from then on, also where a large one follows.
    expect(await ask(0.001, "Hello?", { prompt_tokens: 100, cost: 0.0005 })).toBe(200);
    expect(await ask(0.00045, "Hello?", {})).toBe(402);
    expect(await ask(0.0955, large, { prompt_tokens: 600_000, cost: 0.0945126 })).toBe(200);
  });

  test("does not let more calls at once pass than what is left pays for, once it is known", async () => {
    await using at = await scene(within('"cost":0.1'), { ...LIMITS, cost_usd: 1 });
    await at.ask();
    const answers = await Promise.all(Array.from({ length: 30 }, () => at.ask()));
    expect(answers.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(9);
    expect(await at.used()).toBeLessThanOrEqual(1);
  });
});

describe("a stated cost that is rounded", () => {
  test.each([
    [0.000027009, PLAIN],
    [0.00002701, 0.000027005],
    [0.0000271, 0.000027005],
    [0.000028, 0.000027005],
  ])("as %d for %d is charged, and the chain is not told of each", async (cost, priced) => {
    const store = new MemoryStore();
    const budget = await openBudget(LIMITS, { store });
    const usage = { prompt_tokens: 100, completion_tokens: 20, cost };
    const send = governedFetch({
      fetch: async () => Response.json({ model: "m", choices: [], usage }),
      prices: { m: { input_usd_per_mtok: 0.1, output_usd_per_mtok: (priced * 1e6 - 10) / 20 } },
    });
    const body = JSON.stringify({ ...CHAT, model: "m" });
    const url = `https://rounding-${cost}.example/v1/chat/completions`;
    expect((await budget.run(() => send(url, { method: "POST", body }))).status).toBe(200);
    expect((await budget.state()).used.cost_usd).toBe(cost);
    for await (const line of store.chain(budget.id)) expect(parseLine(line).action_type).not.toBe("AnswerDearer");
  });

  test.each([0.00002702, 0.0000272, 0.000029, 0.0001])("as %d is no rounding of 0.000027", async (cost) => {
    await using at = await scene(within(`"cost":${cost}`));
    await at.ask();
    expect(await at.used()).toBe(cost);
    expect(await at.links("AnswerDearer")).toHaveLength(1);
  });
});

describe("an answer that says nothing of its usage", () => {
  const silent = (more: string): Restated => ({
    text: (text) => text.replaceAll(/"usage":\{(?:[^{}]|\{[^{}]*\})*\}/g, `"usage":{${more}}`),
  });

  test("is charged as it was reserved", async () => {
    await using at = await scene(silent(""));
    await at.ask();
    const [started] = await at.links("StepStarted");
    expect(started?.data.asked).toMatchObject({ cost_usd: await at.used() });
  });

  test.each([false, true])("is charged the cost that it states, if that is more (streamed: %s)", async (stream) => {
    await using at = await scene(silent('"cost":0.75'));
    await at.ask({ stream });
    expect(await at.used()).toBe(0.75);
    expect(await at.links("AnswerDearer")).toHaveLength(1);
  });

  test.each([false, true])("is charged the most that a dearer model costs (streamed: %s)", async (stream) => {
    const dear = (text: string) => naming("o1-pro").text?.(silent("").text?.(text) ?? "") ?? "";
    await using at = await scene({ text: dear });
    await at.ask({ stream });
    // 500 tokens out at 600 dollars for a million, and what went in.
    expect(await at.used()).toBeGreaterThan(0.3);
    expect(await at.links("AnswerDearer")).toHaveLength(1);
  });

  test("is charged what a dearer model can have used of a stream that breaks off", async () => {
    const broken = (text: string) => text.slice(0, text.indexOf('finish_reason":"stop"'));
    await using at = await scene({ text: (text) => broken(naming("o1-pro").text?.(text) ?? "") });
    await at.ask({ stream: true }).catch(() => {});
    expect(await at.used()).toBeGreaterThan(0.1);
    expect(await at.links("AnswerDearer")).toHaveLength(1);
  });
});

describe("whose price counts", () => {
  const STATED = { [GPT]: { input_usd_per_mtok: 0.1, output_usd_per_mtok: 0.1 } };
  const FREE = { [GPT]: { input_usd_per_mtok: 0, output_usd_per_mtok: 0 } };
  const TOKENS = 0.000012;

  test.each(["gpt-4o-mini-2024-07-18", "openai/gpt-4o-mini", "gpt-4o-mini:latest"])(
    "a stated price is that of the model's revisions too: %s",
    async (model) => {
      await using at = await scene(naming(model), LIMITS, { prices: STATED });
      await at.ask();
      expect(await at.used()).toBe(TOKENS);
      expect(await at.links("AnswerUnpriced")).toEqual([]);
    },
  );

  test("a stated price does not make another model cheaper, whether that is stated or in the table", async () => {
    const prices = { ...STATED, mine: { input_usd_per_mtok: 5, output_usd_per_mtok: 5 } };
    await using at = await scene(naming("mine"), LIMITS, { prices });
    await at.ask();
    expect(await at.used()).toBe(0.0006);
    at.server.restate(naming("o1-pro"));
    await at.ask();
    expect(await at.used()).toBe(0.0276);
  });

  test("a model that is stated to cost nothing costs nothing under any name, unless the answer states a cost", async () => {
    await using at = await scene(naming("meta-llama/Llama-3.1-8B-Instruct"), LIMITS, { prices: FREE });
    await at.ask();
    expect(await at.used()).toBe(0);
    expect(await at.links("AnswerUnpriced")).toHaveLength(1);
    at.server.restate(within('"cost":0.02'));
    await at.ask();
    expect(await at.used()).toBe(0.02);
  });

  test("what is assumed of unknown models is not charged for a name in an answer", async () => {
    const assume = { input_usd_per_mtok: 1000, output_usd_per_mtok: 1000 };
    await using at = await scene(naming("in-house-7"), LIMITS, { assume });
    await at.ask();
    expect(await at.used()).toBe(PLAIN);
    expect(await at.links("AnswerUnpriced")).toHaveLength(1);
  });
});

test("a key that a provider names as its model does not get into the chain", async () => {
  const key = "sk-proj-0123456789abcdef0123456789";
  await using at = await scene(naming(key));
  await at.ask();
  expect(JSON.stringify(await at.links())).not.toContain("0123456789abcdef");
  expect((await at.links("AnswerUnpriced"))[0]?.data.answered).toEqual({ model: "[key]" });
});

test.each(["authorization", "api-key"])("nor does the key of a request, whatever it looks like: %s", async (name) => {
  const key = "0f1e2d3c4b5a69788796a5b4c3d2e1f0";
  await using at = await scene(naming(`x-${key}`));
  const shown = name === "authorization" ? `Bearer ${key}` : key;
  for (const stream of [false, true]) await at.ask({ stream }, "/chat/completions", { [name]: shown });
  expect(await at.links("AnswerUnpriced")).toHaveLength(1);
  expect(JSON.stringify(await at.links())).not.toContain("4b5a6978");
});

test("a key that is a placeholder leaves names as they are", async () => {
  await using at = await scene(naming("o1-pro"));
  await at.ask({}, "/chat/completions", { authorization: "Bearer o" });
  expect(await at.used()).toBe(0.027);
});

test("text that no chain can hold does not stand in the way of a settlement", async () => {
  await using at = await scene({ text: (text) => text.replaceAll(`"${GPT}"`, '"\\ud800\\u0000"') });
  expect((await at.ask()).status).toBe(200);
  expect(await at.used()).toBe(PLAIN);
  expect((await at.budget.state()).held).toEqual({});
});

describe.each(["openai", "anthropic"] as const)("a batch at %s", (provider) => {
  test("is charged what a dearer model costs in a batch, and the next one reserves as much", async () => {
    const clock = new FakeClock();
    const model = provider === "openai" ? GPT : "claude-haiku-4-5";
    const dear = provider === "openai" ? "o1-pro" : "claude-opus-4-1";
    await using server = await openRestating(
      { text: (text) => text.replaceAll(`"${model}"`, `"${dear}"`) },
      { batches: { polls: 1 }, models: [model], clock },
    );
    await using scene = await Scene.open({ provider });
    const purse = await scene.purse("b", 5);
    const url = provider === "openai" ? server.url : server.origin;
    const about = { store: scene.store, timer: scene.clock, provider, url, apiKey: "sk-1", model } as const;
    await using desk = openBatches({ ...about, price_factor: 0.5, window_ms: 1000, poll_ms: 1000 });
    const before = await desk.terms({ prompt: "one", max_tokens: 50 });
    await scene.until(desk.call(purse, { prompt: "one", max_tokens: 50 }), HOUR_MS);
    const cost = provider === "openai" ? 13_500_000 : 1_500_000;
    expect((await scene.used("b")).used).toMatchObject({ cost_usd: cost });
    const told = (await scene.links("b")).filter(({ action_type }) => action_type === "AnswerDearer");
    expect(told).toHaveLength(1);
    const after = await desk.terms({ prompt: "one", max_tokens: 50 });
    expect(Number(after.asked.cost_usd)).toBeGreaterThan(10 * Number(before.asked.cost_usd));
  });
});

test("a charge is never less than what the usage costs at the price that was asked, whatever an answer claims", async () => {
  const book = await openPrices();
  const models = ["gpt-4o-mini", "o1-pro", "gpt-5", "gpt-5.5", "claude-opus-4-1", "none", "gpt-4.1-nano"];
  const figure = fc.oneof(fc.double(), fc.constantFrom(-1, 0, 1e30, "1", "x", null, {}), fc.string());
  const usage = fc.record(
    {
      cost: figure,
      cost_usd: figure,
      total_cost: figure,
      cost_in_usd_ticks: figure,
      is_byok: fc.boolean(),

      cost_details: fc.record({ upstream_inference_cost: figure }),
      speed: fc.constantFrom("fast", "standard", "x"),

      service_tier: fc.constantFrom("priority", "flex", "batch", "x"),
      inference_geo: fc.constantFrom("us", "eu"),
    },
    { requiredKeys: [] },
  );
  const answer = fc.record({ model: fc.oneof(fc.constantFrom(...models), fc.string()), usage });
  const count = fc.integer({ min: 1, max: 1_000_000 });
  const url = "https://provider.example/v1/chat/completions";
  fc.assert(
    fc.property(
      fc.constantFrom("gpt-4o-mini", "o1-pro", "gpt-5.5"),
      answer,
      count,
      count,
      (model, said, input, output) => {
        const price = book.find(model, { url, protocol: "openai-chat" });
        if (price === null) throw new Error("no price");
        const call = { book, price, model, url, protocol: "openai-chat" } as const;
        const counts = { input, output };
        const { cost_usd: plain = 0, ...tokens } = chargeAnswer(call, counts, NO_CLAIMS).used;
        const { used: charged, notes } = chargeAnswer(call, counts, claimsIn(JSON.parse(JSON.stringify(said))));
        const { cost_usd = 0, ...counted } = charged;
        expect(cost_usd).toBeGreaterThanOrEqual(plain);
        expect(Number.isSafeInteger(cost_usd)).toBe(true);
        expect(notes.some(({ action_type }) => action_type === "AnswerDearer")).toBe(cost_usd > plain);
        expect(counted).toEqual(tokens);
      },
    ),
    { numRuns: 500 },
  );
});

describe("what is remembered of dearer answers", () => {
  const pair = (number: number) => ({ url: "https://a.example/v1", model: `model-${number}` });

  test("is forgotten a day after the last of them", () => {
    const clock = new FakeClock();
    const answers = new DearerAnswers(clock);
    answers.note(pair(1), NO_CLAIMS, extraOf(5n, 2n));
    clock.advance(23 * HOUR_MS);
    expect(answers.find(pair(1))?.extra.nano).toBe(5n);
    answers.note(pair(1), NO_CLAIMS, extraOf(3n, 2n));
    clock.advance(23 * HOUR_MS);
    expect(answers.find(pair(1))?.extra.nano).toBe(5n);
    clock.advance(HOUR_MS);
    expect(answers.find(pair(1))).toBeNull();
  });

  test("is bounded, whatever names come", () => {
    const answers = new DearerAnswers(new FakeClock());
    for (let number = 0; number < 1500; number++)
      answers.note(pair(number), claimsIn({ model: `other-${number}` }), extraOf(1n, 0n));
    expect(answers.find(pair(499))).toBeNull();
    expect(answers.find(pair(500))).not.toBeNull();
    for (let turn = 0; turn < 100; turn++)
      answers.note(pair(1499), claimsIn({ model: `random-${turn}` }), extraOf(1n, 0n));
    expect(answers.find(pair(1499))?.claims.models).toEqual(["other-1499", "random-97", "random-98", "random-99"]);
  });
});
