import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import type { Served } from "../../../src/gateway/gateway.js";
import type { TierListOptions } from "../../../src/ports/tiers.js";
import { opened } from "../../gateway/opened.js";
import { ANSWER, tiersOf as scened, switchesIn } from "./scene.js";

/** The models that the scripted provider behind this gateway has. */
const NAMES = ["gpt-5", "gpt-4o", "claude-sonnet-4-5"] as const;
const PRICES = Object.fromEntries(
  NAMES.map((name, index) => [name, { input_usd_per_mtok: 16 / 4 ** index, output_usd_per_mtok: 64 / 4 ** index }]),
);
const TIERS = ["large", "medium", "small"].map((name, index) => ({ name, model: NAMES[index] ?? "" }));
const tiersOf = (list: Partial<TierListOptions> = {}) => scened({ tiers: TIERS, ...list });

const BODY = { model: "bursar/auto", messages: [{ role: "user", content: "Hello?" }], max_tokens: 1000 };

describe("the gateway", () => {
  test("chooses the model for bursar/auto, and says which", async () => {
    const served: Served[] = [];
    const onServed = (each: Served) => void served.push(each);
    await using at = await opened(() => ANSWER, { cost_usd: 0.2 }, { prices: PRICES, tiers: tiersOf(), onServed });

    const answers: Response[] = [];
    for (let call = 0; call < 8; call++) answers.push(await at.post("/v1/chat/completions", BODY));

    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    const models = answers.map(({ headers }) => headers.get("x-bursar-model"));
    expect(models[0]).toBe("gpt-5");
    expect(models.at(-1)).toBe("claude-sonnet-4-5");
    expect(answers[0]?.headers.get("x-bursar-tier")).toBe("large");
    expect(await answers[0]?.json()).toMatchObject({ model: "gpt-5" });
    expect(at.model.requests.map(({ body }) => (body as JsonObject).model)).toEqual(models);
    expect(served.map(({ model }) => model)).toEqual(models);
    const switches = await switchesIn(at.store, "team");
    expect(switches[0]).toMatchObject({ list: "auto", from: null, to: { tier: "large" }, reason: "first" });
    expect(switches.length).toBeGreaterThan(1);
  });

  test("sends the model that it chose, also where the one that was asked for is written at length", async () => {
    await using at = await opened(() => ANSWER, { cost_usd: 1 }, { prices: PRICES, tiers: tiersOf() });
    const padded = JSON.stringify(BODY).replace('"bursar/auto"', `${" ".repeat(300)}"bursar/auto"`);
    const { status, headers } = await at.post("/v1/chat/completions", padded);
    expect([status, headers.get("x-bursar-model")]).toEqual([200, "gpt-5"]);
    expect(at.model.requests.map(({ body }) => (body as JsonObject).model)).toEqual(["gpt-5"]);
  });

  test("takes a pin from a header, which the provider does not see, and says the model of a stream", async () => {
    await using at = await opened(() => ANSWER, { cost_usd: 1 }, { prices: PRICES, tiers: tiersOf() });
    const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Hello?" }];

    const { data, response } = await openai.chat.completions
      .create({ model: "bursar/auto", messages, stream: true }, { headers: { "x-bursar-tier": "small" } })
      .withResponse();
    for await (const _ of data);

    expect(response.headers.get("x-bursar-model")).toBe("claude-sonnet-4-5");
    expect(at.model.requests[0]?.headers).not.toHaveProperty("x-bursar-tier");
  });

  test("keeps the calls of a step at one tier", async () => {
    await using at = await opened(() => ANSWER, { cost_usd: 1 }, { prices: PRICES, tiers: tiersOf() });
    const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret, maxRetries: 0 });
    const ask = async (headers: Record<string, string>) => {
      const body = { ...BODY, messages: [{ role: "user" as const, content: "Hello?" }] };
      const { response } = await openai.chat.completions.create(body, { headers }).withResponse();
      return response.headers.get("x-bursar-tier");
    };
    const step = { "x-bursar-step": "chapter 1" };
    expect(await ask({ ...step, "x-bursar-tier": "medium" })).toBe("medium");
    expect([await ask({}), await ask(step), await ask({})]).toEqual(["large", "medium", "large"]);
    expect(at.model.requests[0]?.headers).not.toHaveProperty("x-bursar-step");
    const told = (await switchesIn(at.store, "team")).map(({ reason, to }) => `${to.tier}: ${reason}`);
    expect(told).toEqual(["medium: pinned", "large: first", "medium: step", "large: back"]);
  });

  test("speaks Anthropic's protocol too", async () => {
    await using at = await opened(() => ANSWER, { cost_usd: 1 }, { prices: PRICES, tiers: tiersOf() });
    const anthropic = new Anthropic({ baseURL: at.gateway.url, apiKey: at.secret, maxRetries: 0 });
    const messages = [{ role: "user" as const, content: "Hello?" }];
    const { model } = await anthropic.messages.create({ model: "bursar/auto", max_tokens: 100, messages });
    expect(model).toBe("gpt-5");
  });

  test("lists what can be asked for beside the provider's models", async () => {
    await using at = await opened(() => ANSWER, { cost_usd: 1 }, { prices: PRICES, tiers: tiersOf() });
    const openai = new OpenAI({ baseURL: `${at.gateway.url}/v1`, apiKey: at.secret });
    const anthropic = new Anthropic({ baseURL: at.gateway.url, apiKey: at.secret });

    const names = (await openai.models.list()).data.map(({ id }) => id);
    const others = (await anthropic.models.list()).data.map(({ id }) => id);

    expect(names).toContain("gpt-4o");
    expect(names.at(-1)).toBe("bursar/auto");
    expect(others.at(-1)).toBe("bursar/auto");
    const one = await fetch(`${at.gateway.url}/v1/models/bursar/auto`, {
      headers: { authorization: `Bearer ${at.secret}` },
    });
    expect(await one.json()).toMatchObject({ id: "bursar/auto", object: "model", tiers: [{ name: "large" }, {}, {}] });
  });

  test("does not open with a tier that nobody knows the price of", async () => {
    const tiers = tiersOf({ tiers: [{ name: "odd", model: "nobody-knows-it" }] });
    await expect(opened(() => ANSWER, {}, { prices: PRICES, tiers })).rejects.toThrow(/auto\.odd .* has no price/);
  });

  test("asks a person when not even the floor fits and the list says so, and nobody when it says not to", async () => {
    const limits = { cost_usd: 0.000_05 };
    await using asks = await opened(() => ANSWER, limits, {
      prices: PRICES,
      tiers: tiersOf({ when_none_fits: "pause" }),
    });
    await using stops = await opened(() => ANSWER, limits, {
      prices: PRICES,
      tiers: tiersOf({ when_none_fits: "stop" }),
      policies: { cost_usd: "approval_required" },
    });

    const asked = await (await asks.post("/v1/chat/completions", BODY)).json();
    const stopped = await (await stops.post("/v1/chat/completions", BODY)).json();

    expect(asked).toMatchObject({ error: { code: "approval_required", bursar: { approval_id: expect.any(String) } } });
    expect(stopped).toMatchObject({ error: { code: "budget_exceeded" } });
  });

  test("who has no tiers is told so", async () => {
    await using at = await opened(() => ANSWER, { cost_usd: 1 }, { prices: PRICES });
    const answer = await at.post("/v1/chat/completions", BODY);
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: { code: "invalid_request" } });
  });
});
