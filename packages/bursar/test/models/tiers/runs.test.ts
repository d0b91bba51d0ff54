import { describe, expect, test } from "vitest";
import { scenario } from "../../../../../specs/scenario.js";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import { chatModel } from "../../../src/models/chat/chat.js";
import { tieredModel } from "../../../src/models/tiers/tiered-model.js";
import type { TierListOptions } from "../../../src/ports/tiers.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { openBursar } from "../../../src/runs/bursar.js";
import type { RunResult } from "../../../src/runs/result.js";
import { Gate } from "../../../src/runtime/gate.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { openScriptedModel } from "../../../src/testing/scripted-model.js";
import { ANN } from "../../runs/stage.js";
import { ANSWER, PRICES, switchesIn, tiersOf } from "./scene.js";

/** An agent that asks so many times, one after the other or all at once. */
const asker = defineAgent("asker", async (ctx, { times, at_once = false, request = {} }: Asking) => {
  const ask = () => ctx.model<{ model: string }>({ prompt: "Hello?", max_tokens: 1000, ...request });
  const answers: { model: string }[] = [];
  if (at_once) answers.push(...(await Promise.all(Array.from({ length: times }, ask))));
  else for (let call = 0; call < times; call++) answers.push(await ask());
  return answers.map(({ model }) => model);
});

interface Asking {
  readonly times: number;
  readonly at_once?: boolean;
  readonly request?: JsonObject;
}

/** The models that have answered, in order. */
function modelsOf(result: RunResult): readonly string[] {
  if (result.status !== "completed") throw new Error(`the run is ${result.status}`);
  return result.result as readonly string[];
}

async function stage(list: Partial<TierListOptions> = {}, enabled = true) {
  const provider = await openScriptedModel({ script: () => ANSWER, models: Object.keys(PRICES) });
  const store = new MemoryStore();
  const tiers = tiersOf(list, enabled);
  const model = chatModel({ url: provider.url, model: "bursar/auto", prices: PRICES, tiers });
  const bursar = openBursar({ store, model, programs: [asker] });
  return {
    provider,
    store,
    bursar,
    [Symbol.asyncDispose]: async () => {
      await bursar[Symbol.asyncDispose]();
      await provider[Symbol.asyncDispose]();
    },
  };
}

describe("ctx.model without a model", () => {
  test("goes by what is in the books, and not by what is held for a call that is over", async () => {
    const short = { ...ANSWER, usage: { prompt_tokens: 20, completion_tokens: 10 } };
    await using provider = await openScriptedModel({ script: () => short, models: Object.keys(PRICES) });
    const model = chatModel({ url: provider.url, model: "bursar/auto", prices: PRICES, tiers: tiersOf() });
    for (const store of [new MemoryStore(), new MemoryStore()]) {
      await using bursar = openBursar({ store, model, programs: [asker] });
      const limits = { cost_usd: 0.08 };
      const result = await bursar.run("asker", { times: 5 }, { id: "same", limits });
      expect(modelsOf(result)).toEqual(Array(5).fill("gpt-4-large"));
      // In each of the stores, because they have nothing to do with each other.
      expect(await switchesIn(store, "same")).toMatchObject([{ from: null, reason: "first" }]);
    }
  });

  scenario("004/model-tier-selection", "finishes on cheaper tiers what the best one could not pay for", async () => {
    await using at = await stage();

    const result = await at.bursar.run("asker", { times: 20 }, { limits: { cost_usd: 0.4 } });

    expect(result.status).toBe("completed");
    const models = modelsOf(result);
    expect(models[0]).toBe("gpt-4-large");
    expect(models.at(-1)).toBe("gpt-4-small");
    const switches = await switchesIn(at.store, result.run_id);
    expect(switches.map(({ to }) => to.tier)).toEqual(["large", "medium", "small"]);
    expect(switches[1]?.from?.quote?.cost_usd).toBeGreaterThan(switches[1]?.to.quote.cost_usd ?? 0);
  });

  test("stops where it is switched off", async () => {
    await using at = await stage({}, false);
    const result = await at.bursar.run("asker", { times: 20 }, { limits: { cost_usd: 0.4 } });
    expect(result).toMatchObject({ status: "failed" });
    expect(at.provider.requests.every(({ body }) => (body as JsonObject).model === "gpt-4-large")).toBe(true);
  });

  test("calls that begin together do not all count on the same money", async () => {
    await using at = await stage();

    const result = await at.bursar.run("asker", { times: 10, at_once: true }, { limits: { cost_usd: 0.2 } });

    expect(result.status).toBe("completed");
    const models = modelsOf(result);
    expect(models).toContain("gpt-4-large");
    expect(models).toContain("gpt-4-small");
  });

  test("a pin in the request holds for that call, and is not sent", async () => {
    await using at = await stage();
    const request = { bursar: { tier: "medium" } };

    const result = await at.bursar.run("asker", { times: 2, request }, { limits: { cost_usd: 1 } });

    expect(modelsOf(result)).toEqual(["gpt-4-medium", "gpt-4-medium"]);
    expect(at.provider.requests[0]?.body).not.toHaveProperty("bursar");
    expect((await switchesIn(at.store, result.run_id)).map(({ reason }) => reason)).toEqual(["pinned"]);
  });

  test.each([
    [{ bursar: { tier: "huge" } }, "tiers of auto"],
    [{ bursar: { tier: 7 } }, "the name of a tier"],
    [{ model: "gpt-4-small", bursar: { tier: "large" } }, "names its model"],
    [{ model: "bursar/none" }, "no list of tiers"],
  ])("%j is the program's mistake", async (request, why) => {
    await using at = await stage();
    const result = await at.bursar.run("asker", { times: 1, request }, { limits: { cost_usd: 1 } });
    expect(result.status).toBe("failed");
    expect(JSON.stringify(result)).toContain(why);
  });

  test("a model that is named is asked as ever", async () => {
    await using at = await stage();
    const request = { model: "gpt-4-small" };
    const result = await at.bursar.run("asker", { times: 1, request }, { limits: { cost_usd: 1 } });
    expect(modelsOf(result)).toEqual(["gpt-4-small"]);
    expect(await switchesIn(at.store, result.run_id)).toEqual([]);
  });

  test("pauses when not even the floor fits, if the list says so, and goes on after an extension", async () => {
    await using at = await stage({ when_none_fits: "pause" });
    const paused = await at.bursar.run("asker", { times: 3 }, { limits: { cost_usd: 0.005 } });
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "cost_usd" });

    const [approval] = paused.status === "paused" ? paused.approvals : [];
    const done = await at.bursar.approve(String(approval), { by: ANN, extensions: { cost_usd: 0.05 } });

    expect(done.status).toBe("completed");
  });

  test("fails when it says so, though the budget would ask", async () => {
    await using at = await stage({ when_none_fits: "stop" });
    const policies = { cost_usd: "approval_required" } as const;
    const result = await at.bursar.run("asker", { times: 3 }, { limits: { cost_usd: 0.005 }, policies });
    expect(result).toMatchObject({ status: "failed" });
  });
});

describe("a choice", () => {
  const cost: Readonly<Record<string, number>> = { dear: 0.1, cheap: 0.01 };
  const list = {
    tiers: [
      { name: "dear", model: "dear", context_window: 100 },
      { name: "cheap", model: "cheap" },
    ],
  };
  const plain = {
    quote: (request: unknown) => ({ cost_usd: cost[(request as JsonObject).model as string] ?? 1 }),
    call: () => Promise.reject(new Error("nothing is asked here")),
  };

  async function chosen(steps: { median: number; upper: number } | null, prompt = "Hello?") {
    const store = new MemoryStore();
    using gate = new Gate({ store });
    await gate.open("run", { limits: { cost_usd: 1 } });
    const model = tieredModel(plain, { lists: { own: list } });
    const choose = async () => {
      const request = { model: "bursar/own", prompt };
      const choice = await model.choose?.(request, { store, budget: "run", chain: "run", steps });
      choice?.entered();
      choice?.used({ cost_usd: cost[choice.model] });
      return choice?.model;
    };
    return [await choose(), await choose()];
  }

  scenario("004/model-tier-selection", "reckons with the steps that are still expected", async () => {
    expect(await chosen(null)).toEqual(["dear", "dear"]);
    expect(await chosen({ median: 10, upper: 12 })).toEqual(["dear", "dear"]);
    expect(await chosen({ median: 20, upper: 30 })).toEqual(["dear", "cheap"]);
  });

  test("keeps requests away from models that are too small for them", async () => {
    expect(await chosen(null, "word ".repeat(200))).toEqual(["cheap", "cheap"]);
  });
});

test("a tier that nobody knows the price of is refused when the model is made", () => {
  const tiers = tiersOf({ tiers: [{ name: "odd", model: "nobody-knows-it" }] });
  const make = () => chatModel({ url: "http://localhost:1/v1", model: "gpt-4-large", prices: PRICES, tiers });
  expect(make).toThrow(/tiers\.lists\.auto\.odd .* has no price/);
});

test("any model that knows its prices can be one of tiers", async () => {
  const asked: string[] = [];
  const cost: Readonly<Record<string, number>> = { dear: 0.1, cheap: 0.01 };
  const plain = {
    quote: (request: unknown) => ({ cost_usd: cost[(request as JsonObject).model as string] ?? 1 }),
    call: async (request: unknown) => {
      const { model } = request as { readonly model: string };
      asked.push(model);
      return { value: { model }, usage: { cost_usd: cost[model] } };
    },
  };
  const list = {
    tiers: [
      { name: "dear", model: "dear" },
      { name: "cheap", model: "cheap" },
    ],
  };
  await using bursar = openBursar({
    store: new MemoryStore(),
    model: tieredModel(plain, { lists: { own: list } }),
    programs: [asker],
  });
  const input = { times: 6, request: { model: "bursar/own" } };

  const result = await bursar.run("asker", input, { limits: { cost_usd: 0.4 } });

  expect(result.status).toBe("completed");
  expect(asked[0]).toBe("dear");
  expect(asked.at(-1)).toBe("cheap");
});
