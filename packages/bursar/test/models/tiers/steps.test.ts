import { createOpenAI } from "@ai-sdk/openai";
import { generateText } from "ai";
import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { tiered } from "../../../src/models/ai/tiered.js";
import { chatModel } from "../../../src/models/chat/chat.js";
import { tieredModel } from "../../../src/models/tiers/tiered-model.js";
import type { Model } from "../../../src/ports/model.js";
import type { TierListOptions } from "../../../src/ports/tiers.js";
import { type AgentContext, defineAgent } from "../../../src/runs/agent.js";
import { openBursar } from "../../../src/runs/bursar.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { mortal, settle, Theatre } from "../../runs/stage.js";
import { ANSWER, openTiers, PRICES, switchesIn, tiersOf } from "./scene.js";

const ASK = { prompt: "Hello?", max_tokens: 1000 };
type Play = (ctx: AgentContext, ask: (on: Pick<AgentContext, "model">) => Promise<string>) => Promise<unknown>;

/** Plays something with a model of three tiers, of which a call costs 0.064, 0.016 and 0.004 dollars. */
async function play(
  work: Play,
  { cost_usd, ...list }: { readonly cost_usd: number } & Partial<TierListOptions>,
  store = new MemoryStore(),
) {
  await using provider = await openScriptedModel({ script: () => ANSWER, models: Object.keys(PRICES) });
  const model = chatModel({ url: provider.url, model: "bursar/auto", prices: PRICES, tiers: tiersOf(list) });
  const program = defineAgent("essay", (ctx) =>
    work(ctx, async (on) => (await on.model<{ model: string }>(ASK)).model.replace("gpt-4-", "")),
  );
  await using bursar = openBursar({ store, model, programs: [program] });
  const result = await bursar.run("essay", null, { id: "r", limits: { cost_usd } });
  const sent = provider.requests.map(({ body }) => body as { readonly model: string });
  const told = store.dropped("r") === null ? await toldIn(store, "r") : null;
  return { result, sent, told, used: result.usage.cost_usd as number };
}

/** What a chain tells of tiers: what has changed, for which step, and why. */
async function toldIn(store: MemoryStore, chain: string): Promise<readonly string[]> {
  const told: string[] = [];
  for await (const line of store.chain(chain)) {
    const { action_type, data } = JSON.parse(line);
    if (!action_type.startsWith("Tier")) continue;
    told.push(`${action_type} ${data.step ?? "-"} ${data.to.tier}: ${data.reason}`);
    expect(data.to.quote.cost_usd).toBeGreaterThan(0);
  }
  return told;
}

describe("the calls of a step", () => {
  test("stay at the tier of the first, whatever the others do; the chain tells of both", async () => {
    const { result, told } = await play(
      async (ctx, ask) => {
        const chapter = ctx.pinned("chapter 1");
        const own = [await ask(chapter)];
        const others: string[] = [];
        while (others.at(-1) !== "medium") others.push(await ask(ctx));
        own.push(await ask(chapter));
        others.push(await ask(ctx));
        return { own, last: others.at(-1) };
      },
      { cost_usd: 0.5 },
    );
    expect(result).toMatchObject({ status: "completed", result: { own: ["large", "large"], last: "medium" } });
    expect(told).toEqual([
      "TierSwitched chapter 1 large: first",
      "TierSwitched - medium: rest_too_large",
      "TierSwitched chapter 1 large: step",
      "TierSwitched - medium: back",
    ]);
  });

  test("begin where others are when the front of the chain was dropped, where it is told who began before", async () => {
    const { result, told } = await play(
      async (ctx, ask) => {
        for (let call = 0; call < 20; call++) await ask(ctx);
        return [await ask(ctx.pinned("chapter 1")), await ask(ctx.pinned("chapter 1"))];
      },
      { cost_usd: 5 },
      new MemoryStore({ keep: { characters: 5000 } }),
    );
    expect(result).toMatchObject({ status: "completed", result: ["large", "large"] });
    expect(told).toBeNull();
  });

  test("begin at the tier that is named, and a call may name another for itself", async () => {
    const { result, told, sent } = await play(
      async (ctx, ask) => {
        const notes = ctx.pinned("notes", { tier: "small" });
        const other = await notes.model<{ model: string }>({ ...ASK, bursar: { tier: "medium" } });
        return [await ask(notes), other.model, await ask(ctx.pinned("notes")), await ask(ctx)];
      },
      { cost_usd: 1 },
    );
    // The call that names its tier came first, so that the step is at its tier.
    expect(result).toMatchObject({ result: ["small", "gpt-4-medium", "medium", "large"] });
    expect(told).toEqual([
      "TierSwitched notes medium: pinned",
      "TierSwitched - small: pinned",
      "TierSwitched notes medium: step",
      "TierSwitched - large: first",
    ]);
    expect(sent.every((body) => !("bursar" in body))).toBe(true);
  });

  test("that begins where the others are is in the chain, too, once", async () => {
    const { told } = await play(
      async (ctx, ask) => {
        await ask(ctx);
        for (let call = 0; call < 3; call++) await ask(ctx.pinned("chapter 1"));
      },
      { cost_usd: 1 },
    );
    expect(told).toEqual(["TierSwitched - large: first", "TierPinned chapter 1 large: stays"]);
  });

  test("that begin together are at one tier, though there is not enough for all of them at the best", async () => {
    const { result } = await play(
      async (ctx, ask) => Promise.all(Array.from({ length: 3 }, () => ask(ctx.pinned("chapter 1")))),
      { cost_usd: 0.21 },
    );
    expect(result).toMatchObject({ status: "completed", result: ["large", "large", "large"] });
  });

  test("do not pass a limit: what does not fit at their tier is for the policy to decide", async () => {
    const { result, used, sent } = await play(
      async (ctx, ask) => {
        for (let call = 0; call < 5; call++) await ask(ctx.pinned("chapter 1"));
      },
      { cost_usd: 0.2 },
    );
    expect(result).toMatchObject({ status: "failed", failure: { dimension: "cost_usd" } });
    expect(sent.map(({ model }) => model)).toEqual(Array(3).fill("gpt-4-large"));
    expect(used).toBeLessThanOrEqual(0.2);
  });

  test("pause where the list says so", async () => {
    const { result } = await play(
      async (ctx, ask) => {
        for (let call = 0; call < 5; call++) await ask(ctx.pinned("chapter 1"));
      },
      { cost_usd: 0.2, when_none_fits: "pause" },
    );
    expect(result).toMatchObject({ status: "paused", exhausted_dimension: "cost_usd" });
  });

  test("are never below the floor", async () => {
    const { result } = await play(async (ctx, ask) => ask(ctx.pinned("notes", { tier: "small" })), {
      cost_usd: 1,
      floor: "medium",
    });
    expect(result).toMatchObject({ status: "failed" });
    expect(JSON.stringify(result)).toContain("below the floor");
  });

  test("go elsewhere for a call that cannot be made at their tier, and come back", async () => {
    const tools = [{ type: "function", function: { name: "look", parameters: { type: "object" } } }];
    const { result, told } = await play(
      async (ctx, ask) => {
        const notes = ctx.pinned("notes", { tier: "small" });
        const first = await ask(notes);
        const able = await ctx.pinned("notes").model<{ model: string }>({ ...ASK, tools });
        return [first, able.model, await ask(ctx.pinned("notes"))];
      },
      { cost_usd: 1 },
    );
    expect(result).toMatchObject({ result: ["small", "gpt-4-medium", "small"] });
    expect(told).toEqual([
      "TierSwitched notes small: pinned",
      "TierSwitched - medium: capabilities",
      "TierSwitched notes small: step",
    ]);
  });

  test.each([7, "", "a\nb", "x".repeat(201)])("have no name such as %j", async (step) => {
    const { result } = await play(async (ctx) => ctx.model({ ...ASK, bursar: { step } }), { cost_usd: 1 });
    expect(result).toMatchObject({ status: "failed" });
    expect(JSON.stringify(result)).toContain("request.bursar.step");
  });

  test("stay where they are when a run goes on elsewhere", async () => {
    const story = defineAgent("story", async (ctx) => {
      const chapter = ctx.pinned("chapter 1", { tier: "medium" });
      const first = await chapter.model<{ model: string }>(ASK);
      await ctx.tool("echo", { text: "between" });
      const second = await ctx.pinned("chapter 1").model<{ model: string }>(ASK);
      return [first.model, second.model];
    });
    const theatre = new Theatre([story]);
    const { seen, kill } = mortal(theatre.store);
    const dying = theatre.process({ store: seen, model: tieredModel(answering(1), tiersOf()) });
    await dying.start("story", null, { id: "a" });
    dying.drive("a").catch(() => {});
    await settle(200);
    kill();
    await using other = theatre.process({ model: tieredModel(answering(9), tiersOf()) });
    const result = await theatre.until(other.run("story", null, { id: "a" }));
    expect(result).toMatchObject({ status: "completed", result: ["gpt-4-medium", "gpt-4-medium"] });
  });
});

/** A model that answers so many times. */
function answering(times: number): Model {
  let left = times;
  return {
    name: "bursar/auto",
    quote: () => ({ cost_usd: 0.01 }),
    call: async (request) => {
      if (--left < 0) await new Promise(() => {});
      return { value: { model: (request as { model: string }).model }, usage: { cost_usd: 0.01 } };
    },
  };
}

test("a step means nothing where the model is named, or there is only one", async () => {
  await using provider = await openScriptedModel({ script: () => ANSWER, models: Object.keys(PRICES) });
  const agent = defineAgent("plain", async (ctx) => {
    const { model } = await ctx.pinned("chapter 1").model<{ model: string }>({ ...ASK, model: "gpt-4-small" });
    return model;
  });
  for (const tiers of [{}, { tiers: tiersOf() }]) {
    const model = chatModel({ url: provider.url, model: "gpt-4-large", prices: PRICES, ...tiers });
    await using bursar = openBursar({ store: new MemoryStore(), model, programs: [agent] });
    expect(await bursar.run("plain", null, { limits: { cost_usd: 1 } })).toMatchObject({ result: "gpt-4-small" });
  }
  expect(provider.requests.every(({ body }) => !("bursar" in (body as object)))).toBe(true);
});

test("over HTTP a header names the step, and is not sent on", async () => {
  await using at = await openTiers();
  await using budget = await openBudget({ cost_usd: 0.5 });
  const chapter = { "x-bursar-step": "chapter 1" };
  await budget.run(async () => {
    await at.ask({}, { ...chapter, "x-bursar-tier": "medium" });
    await at.ask();
    await at.ask({}, chapter);
    await at.ask({ model: "gpt-4-small" }, chapter);
  });
  expect(at.called()).toEqual(["gpt-4-medium", "gpt-4-large", "gpt-4-medium", "gpt-4-small"]);
  expect(at.provider.requests.some(({ headers }) => "x-bursar-step" in headers)).toBe(false);
  const told = await switchesIn(budget.purse.store, budget.purse.chain);
  expect(told.map(({ reason }) => reason)).toEqual(["pinned", "first", "step"]);
});

test("in the AI SDK the provider's options name it", async () => {
  await using at = await openScriptedModel({ script: () => ANSWER, models: Object.keys(PRICES) });
  const openai = createOpenAI({ baseURL: at.url, apiKey: "k" });
  const model = tiered({ large: openai.chat("gpt-4-large"), small: openai.chat("gpt-4-small") }, { prices: PRICES });
  const ask = { model, prompt: "Hello?", maxOutputTokens: 1000, maxRetries: 0 };
  await using budget = await openBudget({ cost_usd: 0.5 });
  await budget.run(async () => {
    await generateText({ ...ask, providerOptions: { bursar: { step: "a", tier: "small" } } });
    await generateText(ask);
    await generateText({ ...ask, providerOptions: { bursar: { step: "a" } } });
  });
  expect(at.requests.map(({ body }) => (body as { model: string }).model)).toEqual([
    "gpt-4-small",
    "gpt-4-large",
    "gpt-4-small",
  ]);
});
