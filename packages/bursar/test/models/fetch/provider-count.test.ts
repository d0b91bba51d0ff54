import Anthropic from "@anthropic-ai/sdk";
import { openBudget, withBudget } from "bursar";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import { budget as anthropicBudget } from "../../../src/models/anthropic/budget.js";
import { type GovernedFetchOptions, governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { ProviderCounts } from "../../../src/models/meter/provider-count.js";
import { OPENAI_RESPONSES } from "../../../src/models/wire/openai-responses.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import {
  openScriptedModel,
  type ScriptedModel,
  type ScriptedModelOptions,
} from "../../../src/testing/scripted-model.js";

/** 40,000 bytes, which a tokenizer that we do not have would make about 9,000 tokens of. */
const LONG = "A bursar keeps the money of a college. ".repeat(1026).slice(0, 40_000);
const TOKENS = 9000;
const PRICE = { input_usd_per_mtok: 1, output_usd_per_mtok: 10 };
const PRICES = { scripted: PRICE, other: PRICE };
const LIMITS = { llm_tokens: 20_000 };
const POLICIES = { llm_tokens: "hard_stop" } as const;

const BODIES = {
  "/messages": { model: "scripted", max_tokens: 100, messages: [{ role: "user", content: LONG }] },
  "/responses": { model: "scripted", max_output_tokens: 100, input: LONG },
  "/chat/completions": { model: "scripted", max_tokens: 100, messages: [{ role: "user", content: LONG }] },
  "/embeddings": { model: "scripted", input: LONG },
} as const;
type Path = keyof typeof BODIES;

interface Scene {
  readonly limits?: Parameters<typeof openBudget>[0];
  readonly counting?: ScriptedModelOptions["counting"];
  readonly options?: GovernedFetchOptions;
}

/** A provider that says it has used what it counts, and a budget that the bytes of a long request do not fit into. */
async function opened({ limits = LIMITS, counting = () => TOKENS, options = { count: "provider" } }: Scene = {}) {
  const usage = { prompt_tokens: TOKENS, completion_tokens: 10 };
  const script = () => ({ kind: "text", text: "Hi.", usage }) as const;
  const model = await openScriptedModel({ script, models: Object.keys(PRICES), counting });
  const budget = await openBudget(limits, { policies: POLICIES, parent: null });
  const fetch = governedFetch({ prices: PRICES, budget, ...options });
  return {
    model,
    budget,
    fetch,
    send: (path: Path, more: object = {}, headers: Record<string, string> = {}) =>
      fetch(`${model.url}${path}`, {
        method: "POST",
        headers: { "anthropic-version": "2023-06-01", ...headers },
        body: JSON.stringify({ ...BODIES[path], ...more }),
      }),
    used: async () => (await budget.state()).used,
    [Symbol.asyncDispose]: async () => {
      await budget[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
    },
  };
}

function seen(model: ScriptedModel): readonly [counts: number, calls: number] {
  return [model.countingRequests.length, model.count];
}

describe.each(["/messages", "/responses"] as const)("%s", (path) => {
  test("is refused by its bytes, and let in by the provider's own count", async () => {
    await using strict = await opened({ options: {} });
    expect((await strict.send(path)).status).toBe(402);
    expect(seen(strict.model)).toEqual([0, 0]);

    await using at = await opened();
    const response = await at.send(path, { temperature: 0 }, { "x-api-key": "k", "idempotency-key": "once" });

    expect(response.status).toBe(200);
    expect(seen(at.model)).toEqual([1, 1]);
    // The question is a request like any other, and takes a step.
    expect(await at.used()).toMatchObject({ steps: 2, llm_tokens: TOKENS + 10 });
    const [question] = at.model.countingRequests;
    expect(question?.path).toBe(path === "/messages" ? "/v1/messages/count_tokens" : "/v1/responses/input_tokens");
    expect(question?.headers).toMatchObject({ "x-api-key": "k", "anthropic-version": "2023-06-01" });
    expect(question?.headers["idempotency-key"]).toBeUndefined();
    const { [path === "/messages" ? "messages" : "input"]: content } = BODIES[path] as Record<string, unknown>;
    expect(question?.body).toEqual({ model: "scripted", [path === "/messages" ? "messages" : "input"]: content });
  });

  test("stands in the chain, apart from the call", async () => {
    await using at = await opened();
    await at.send(path);
    const { store, chain } = at.budget.purse;
    const used: unknown[] = [];
    for await (const line of store.chain(chain)) {
      const { event, data } = JSON.parse(line);
      if (event === "Consumption") used.push(data);
    }
    expect(used).toMatchObject([
      { capability_id: "count:scripted", resources: { steps: 1 } },
      { capability_id: "llm:scripted", resources: { steps: 1, llm_input_tokens: TOKENS } },
    ]);
  });

  test("is not asked about where its bytes fit, nor where nothing would", async () => {
    await using rich = await opened({ limits: { llm_tokens: 100_000 } });
    expect((await rich.send(path)).status).toBe(200);
    expect(seen(rich.model)).toEqual([0, 1]);

    await using poor = await opened({ limits: { llm_tokens: 10 } });
    expect((await poor.send(path)).status).toBe(402);
    expect(seen(poor.model)).toEqual([0, 0]);
  });

  test("is held to every other limit: money, input, steps and bytes", async () => {
    for (const [limits, status, counts] of [
      // 9,000 tokens are 9,514 with the margin.
      [{ cost_usd: 0.0106 }, 200, 1],
      [{ cost_usd: 0.0095 }, 402, 1],
      [{ llm_input_tokens: 9514 }, 200, 1],
      [{ llm_input_tokens: 9513 }, 402, 1],
      [{ ...LIMITS, steps: 2 }, 200, 1],
      [{ ...LIMITS, steps: 1 }, 402, 0],
      [{ ...LIMITS, network_egress_bytes: 90_000 }, 200, 1],
      [{ ...LIMITS, network_egress_bytes: 70_000 }, 402, 0],
    ] as const) {
      await using at = await opened({ limits });
      const response = await at.send(path);
      expect([limits, response.status, ...seen(at.model)]).toEqual([limits, status, counts, status === 200 ? 1 : 0]);
    }
  });

  test("falls back to its bytes when the provider does not count", async () => {
    for (const said of [0, -1, 1.5, { kind: "status", status: 500 }, { kind: "status", status: 429 }] as const) {
      await using at = await opened({ counting: () => said });
      expect((await at.send(path)).status).toBe(402);
      expect(seen(at.model)).toEqual([1, 0]);
      expect(await at.used()).toMatchObject({ steps: 1 });
    }
  });

  test("does not ask again where nobody counts", async () => {
    await using at = await opened({ counting: () => ({ kind: "status", status: 404 }) });
    for (let round = 0; round < 3; round++) expect((await at.send(path)).status).toBe(402);
    expect(seen(at.model)).toEqual([1, 0]);
  });

  test("asks about other models where one is not found: who names a wrong one takes the count from nobody", async () => {
    const gone = { kind: "status", status: 404 } as const;
    const counting: ScriptedModelOptions["counting"] = ({ model }) => (model === "other" ? gone : TOKENS);
    await using at = await opened({ counting });
    const fetch = governedFetch({ prices: PRICES, count: "provider" });
    const status = (model: string) =>
      withBudget(
        LIMITS,
        async () => {
          const body = JSON.stringify({ ...BODIES[path], model });
          const headers = { "anthropic-version": "2023-06-01" };
          return (await fetch(`${at.model.url}${path}`, { method: "POST", headers, body })).status;
        },
        { policies: POLICIES },
      );
    expect([await status("other"), await status("other"), await status("scripted")]).toEqual([402, 402, 200]);
    expect(seen(at.model)).toEqual([2, 1]);
  });

  test("asks about no model where the endpoint is none", async () => {
    await using at = await opened({ counting: () => ({ kind: "status", status: 405 }) });
    for (const model of ["scripted", "other"]) expect((await at.send(path, { model })).status).toBe(402);
    expect(seen(at.model)).toEqual([1, 0]);
  });

  test("does not ask about what may hold more than is counted", async () => {
    await using at = await opened();
    expect((await at.send(path, { novelty: "x" })).status).toBe(402);
    expect(seen(at.model)).toEqual([0, 0]);
  });

  test("never passes a limit, however many ask at once", async () => {
    await using at = await opened({ limits: { llm_tokens: 39_000 } });
    const answers = await Promise.all(Array.from({ length: 20 }, () => at.send(path)));
    expect(answers.filter(({ status }) => status === 200).length).toBe(4);
    expect(at.model.count).toBe(4);
    expect((await at.used()).llm_tokens).toBe(4 * (TOKENS + 10));
  });
});

test("all that is read is counted: instructions, tools and what thinking asks for", async () => {
  await using at = await opened();
  const thinking = { type: "enabled", budget_tokens: 2000 };
  const tools = [{ name: "weather", input_schema: { type: "object", properties: {} } }];
  const response = await at.send("/messages", { system: "Be short.", tools, thinking, max_tokens: 3000, stream: true });
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining("message_stop")]);
  const { messages, model } = BODIES["/messages"];
  const [question] = at.model.countingRequests;
  expect(question?.body).toMatchObject({ model, messages, system: "Be short.", tools, thinking: { type: "enabled" } });
  expect(Object.keys(question?.body ?? {}).sort()).toEqual(["messages", "model", "system", "thinking", "tools"]);
});

test.each(["/chat/completions", "/embeddings"] as const)("nobody counts for %s, so nobody is asked", async (path) => {
  await using at = await opened();
  expect((await at.send(path)).status).toBe(402);
  expect(seen(at.model)).toEqual([0, 0]);
});

test("a provider that does not answer in time is left, and the strict bound counts", async () => {
  const clock = new FakeClock();
  await using at = await opened({ counting: () => ({ kind: "hang" }) });
  const { purse } = at.budget;
  const body = JSON.stringify(BODIES["/responses"]);
  const wire = OPENAI_RESPONSES.read(BODIES["/responses"], { bytes: body.length, compatible: true });
  const stopped: unknown[] = [];
  const counting = new ProviderCounts({ timer: clock }).over(async (url, text, signal) => {
    signal.addEventListener("abort", () => stopped.push(signal.reason));
    const response = await fetch(url, { method: "POST", body: text, signal });
    return { status: response.status, body: await response.text() };
  });
  const needs = (input: number) => ({ llm_input_tokens: input }) as never;
  const bound = counting.bound(purse, { wire, url: `${at.model.url}/responses` }, 40_000, needs);
  await expect.poll(() => at.model.countingRequests.length).toBe(1);
  clock.advance(5000);
  expect(await bound).toBe(40_000);
  expect(stopped).toHaveLength(1);
  expect(await at.used()).toMatchObject({ steps: 1 });
});

test("the official clients need to know nothing of it", async () => {
  await using at = await opened({ limits: { llm_tokens: 40_000 } });
  const openai = new OpenAI({ baseURL: at.model.url, apiKey: "k", fetch: at.fetch });
  expect((await openai.responses.create({ ...BODIES["/responses"] })).output_text).toBe("Hi.");

  const middleware = [anthropicBudget({ prices: PRICES, budget: at.budget, count: "provider" })];
  const anthropic = new Anthropic({ baseURL: at.model.origin, apiKey: "k", middleware });
  const asked = { ...BODIES["/messages"], messages: [{ role: "user" as const, content: LONG }] };
  const { content } = await anthropic.messages.create(asked);
  expect(content).toMatchObject([{ type: "text", text: "Hi." }]);
  expect(seen(at.model)).toEqual([2, 2]);
});

test("what is not allowed is said", () => {
  expect(() => governedFetch({ count: "exactly" as never })).toThrow('allowed: "bytes" or "provider"');
});
