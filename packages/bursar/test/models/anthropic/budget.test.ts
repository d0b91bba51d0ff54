import Anthropic, { APIError } from "@anthropic-ai/sdk";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import type { BudgetLimits } from "../../../src/core/input.js";
import { type BudgetOptions, budget } from "../../../src/models/anthropic/budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { openScriptedModel, type Script } from "../../../src/testing/scripted-model.js";
import { until } from "../../testing/scripted/asking.js";

const MODEL = "claude-opus-4-5";
const PRICES = {
  [MODEL]: {
    input_usd_per_mtok: 100,
    output_usd_per_mtok: 1000,
    cache_read_usd_per_mtok: 10,
    cache_write_usd_per_mtok: 125,
    cache_write_1h_usd_per_mtok: 200,
  },
};
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const COST = 0.03;
const ASK = { model: MODEL, max_tokens: 500, messages: [{ role: "user" as const, content: "Bolts?" }] };
const BUSY = { kind: "status", status: 429, headers: { "retry-after-ms": "1" } } as const;

async function openScene(script: Script, limits: BudgetLimits, more: object = {}, options: BudgetOptions = {}) {
  const server = await openScriptedModel({ script, models: [MODEL] });
  const open = await openBudget(limits);
  const middleware = [budget({ prices: PRICES, ...options })];
  const client = new Anthropic({ baseURL: server.origin, apiKey: "k", middleware, ...more });
  return {
    server,
    client,
    open,
    used: async () => ({ steps: 0, llm_tokens: 0, cost_usd: 0, ...(await open.state()).used }),
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await open.end();
    },
  };
}

describe("the middleware for the Anthropic SDK", () => {
  test("charges what the provider reports, in all classes of tokens", async () => {
    const usage = {
      ...USAGE,
      prompt_tokens: 1000,
      cached_tokens: 300,
      cache_write_tokens: 100,
      cache_write_1h_tokens: 50,
    };
    await using at = await openScene([{ kind: "text", text: "Yes.", usage }], { cost_usd: 10 });
    const cache_control = { type: "ephemeral" as const, ttl: "1h" as const };
    const message = await at.open.run(() => at.client.messages.create({ ...ASK, cache_control }));
    expect(message.content).toMatchObject([{ type: "text", text: "Yes." }]);
    const cost_usd = 0.055 + 0.003 + 0.0125 + 0.01 + 0.02;
    expect(await at.used()).toMatchObject({ steps: 1, llm_tokens: 1020, cost_usd: expect.closeTo(cost_usd, 9) });
  });

  test("charges a stream by its own events", async () => {
    await using at = await openScene([{ kind: "text", text: "word ".repeat(40), usage: USAGE }], { cost_usd: 10 });
    const text = await at.open.run(() => at.client.messages.stream(ASK).finalText());
    expect(text).toBe("word ".repeat(40));
    expect(await at.used()).toMatchObject({ steps: 1, llm_tokens: 120, cost_usd: COST });
  });

  test("throws a refusal as it is, without a request and without another try", async () => {
    await using at = await openScene(() => "Yes.", { cost_usd: 0.001 });
    const error = await at.open.run(() => at.client.messages.create(ASK).catch((each: unknown) => each));
    expect(error).toBeInstanceOf(BudgetExceededError);
    expect((error as BudgetExceededError).report).toMatchObject({ dimension: "cost_usd", limit: 0.001, used: 0 });
    const streamed = await at.open.run(() =>
      at.client.messages
        .stream(ASK)
        .finalText()
        .catch((each: unknown) => each),
    );
    expect(BudgetExceededError.from(streamed)?.report).toMatchObject({ dimension: "cost_usd" });
    expect(at.server.count).toBe(0);
    expect(await at.used()).toMatchObject({ steps: 0, cost_usd: 0 });
  });

  test("refuses what is made outside of any budget, and serves the one it was given", async () => {
    await using at = await openScene(() => ({ kind: "text", text: "Yes.", usage: USAGE }), { cost_usd: 10 });
    await expect(at.client.messages.create(ASK)).rejects.toMatchObject({ report: { code: "no_budget" } });
    const middleware = [budget({ prices: PRICES, budget: at.open })];
    await at.client.withOptions({ middleware }).messages.create(ASK);
    expect(await at.used()).toMatchObject({ steps: 1, cost_usd: COST });
  });

  test("sees every attempt of a retry storm", async () => {
    await using at = await openScene([BUSY, BUSY, { kind: "text", text: "Yes.", usage: USAGE }], { cost_usd: 10 });
    await at.open.run(() => at.client.messages.create(ASK));
    expect(at.server.count).toBe(3);
    expect(await at.used()).toMatchObject({ steps: 3, llm_tokens: 120, cost_usd: COST });
  });

  test("over a governed wire, a call is metered once", async () => {
    const more = { fetch: governedFetch({ prices: PRICES }) };
    const script = [
      BUSY,
      { kind: "text", text: "Yes.", usage: USAGE },
      { kind: "text", text: "Yes.", usage: USAGE },
    ] as const;
    await using at = await openScene(script, { cost_usd: 10 }, more);
    await at.open.run(() => at.client.messages.create(ASK));
    await at.open.run(() => at.client.messages.stream(ASK).finalText());
    expect(at.server.count).toBe(3);
    expect(await at.used()).toMatchObject({ steps: 3, llm_tokens: 240, cost_usd: 2 * COST });
  });

  test("holds answers and thinking to what is left", async () => {
    await using at = await openScene(() => "word ".repeat(5000), { llm_output_tokens: 2000 });
    const thinking = { type: "enabled" as const, budget_tokens: 4000 };
    const { stop_reason } = await at.open.run(() => at.client.messages.create({ ...ASK, max_tokens: 8000, thinking }));
    expect(stop_reason).toBe("max_tokens");
    expect(at.server.requests[0]?.body).toMatchObject({ max_tokens: 2000, thinking: { budget_tokens: 1999 } });
  });

  test("leaves what costs nothing alone, and refuses what is not metered", async () => {
    await using at = await openScene(() => "Yes.", { cost_usd: 10 });
    const { max_tokens: _, ...counted } = ASK;
    expect((await at.client.messages.countTokens(counted)).input_tokens).toBeGreaterThan(0);
    const batch = at.client.messages.batches.create({ requests: [{ custom_id: "a", params: ASK }] });
    await expect(batch).rejects.toMatchObject({ report: { code: "not_governed" } });
    const wrong = at.open.run(() => at.client.messages.create({ ...ASK, max_tokens: -1 }));
    await expect(wrong).rejects.toBeInstanceOf(APIError);
    await expect(wrong).rejects.toMatchObject({ status: 400 });
    expect(at.server.count).toBe(0);
  });

  test("an aborted call is charged what was held; a stream that breaks, what was seen", async () => {
    const half = { kind: "half", text: "word ".repeat(40), events: 6 } as const;
    await using at = await openScene(({ number }) => (number === 1 ? { kind: "hang" } : half), { cost_usd: 10 });
    const stop = new AbortController();
    const asked = at.open.run(() =>
      at.client.messages.create(ASK, { signal: stop.signal }).catch((each: unknown) => each),
    );
    await until(() => at.server.count === 1);
    stop.abort();
    expect(await asked).toBeInstanceOf(Error);
    expect((await at.open.state()).used).toMatchObject({ steps: 1, llm_output_tokens: 500 });
    await at.open.run(() =>
      at.client.messages
        .stream(ASK)
        .finalText()
        .catch(() => null),
    );
    const { llm_output_tokens = 0 } = (await at.open.state()).used;
    expect(llm_output_tokens).toBeGreaterThan(500);
    expect(llm_output_tokens).toBeLessThan(1000);
  });

  test("a call that outlives its budget's time is told as a refusal", async () => {
    const clock = new FakeClock();
    await using timed = await openBudget({ wall_clock_ms: 1000 }, { clock, timer: clock });
    await using at = await openScene(() => ({ kind: "hang" }), {});
    const asked = timed.run(() => at.client.messages.create(ASK).catch((each: unknown) => each));
    await until(() => at.server.count === 1);
    clock.advance(1001);
    expect(await asked).toBeInstanceOf(BudgetExceededError);
    expect(at.server.count).toBe(1);
  });

  test("a hundred calls at once never send more than fits", async () => {
    await using at = await openScene(() => ({ kind: "text", text: "Yes.", usage: USAGE }), { steps: 30 });
    const asked = at.open.run(() =>
      Promise.allSettled(Array.from({ length: 100 }, () => at.client.messages.create(ASK))),
    );
    expect((await asked).filter(({ status }) => status === "fulfilled")).toHaveLength(30);
    expect(at.server.count).toBe(30);
  });

  test("sees the request as Anthropic's own server would, also where it goes to another one", async () => {
    await using at = await openScene(() => ({ kind: "text", text: "Yes.", usage: USAGE }), { cost_usd: 10 });
    // What adapts a request to another server comes after the middleware: here, a fetch that rewrites the address.
    const seen: string[] = [];
    const backend: typeof fetch = (input, init) => {
      seen.push(String(input));
      return fetch(`${at.server.origin}/v1/messages`, init);
    };
    const elsewhere = at.client.withOptions({ baseURL: "http://elsewhere.invalid", fetch: backend });
    await at.open.run(() => elsewhere.messages.create(ASK));
    expect(seen).toEqual(["http://elsewhere.invalid/v1/messages"]);
    expect(await at.used()).toMatchObject({ steps: 1, cost_usd: COST });
  });

  test("takes no option that it does not know", () => {
    expect(() => budget({ fetch } as never)).toThrow("fetch");
  });
});
