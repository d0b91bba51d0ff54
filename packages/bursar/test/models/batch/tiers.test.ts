import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/chain/canonical.js";
import type { BatchesOptions } from "../../../src/models/batch/batch-options.js";
import { chatModel } from "../../../src/models/chat/chat.js";
import { tieredModel } from "../../../src/models/tiers/tiered-model.js";
import type { Program } from "../../../src/ports/program.js";
import type { TierListOptions } from "../../../src/ports/tiers.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { PRICES, switchesIn, tiersOf } from "../tiers/scene.js";
import { driven } from "./patient.js";
import { ofType, Scene } from "./scene.js";

/** At the dearest tier 0.064 at most when it does not wait, and half of it in a batch; at the next ones a quarter each. */
const REQUEST = { prompt: "Hello?", max_tokens: 1000 };

/** Asks so many times, one after the other, and can wait. */
function asker(times: number, request: JsonObject = { model: "bursar/auto" }): Program {
  return defineAgent("asker", async (ctx) => {
    const models: string[] = [];
    for (let call = 0; call < times; call++) {
      const { model } = await ctx.model<{ model: string }>({ ...REQUEST, ...request }, { wait: true });
      models.push(model);
    }
    return models;
  });
}

function processOf(
  scene: Scene,
  program: Program,
  { list = {}, desk = {} }: { list?: Partial<TierListOptions>; desk?: Partial<BatchesOptions> } = {},
) {
  const model = tieredModel(chatModel({ url: scene.server.url, model: "gpt-4-small", prices: PRICES }), tiersOf(list));
  return scene.process([program], { model, batches: scene.desk({ model: "gpt-4-small", prices: PRICES, ...desk }) });
}

function openScene(): Promise<Scene> {
  const usage = { prompt_tokens: 20, completion_tokens: 1000 };
  return Scene.open({ script: () => ({ kind: "text", text: "Yes.", usage }), models: Object.keys(PRICES) });
}

function sentModels(scene: Scene): readonly unknown[] {
  return scene.server.batches.flatMap(({ lines }) => lines.map(({ body }) => (body as JsonObject).model));
}

describe("a call that can wait and leaves its model open", () => {
  test("may say where it comes from, which is not for the provider", async () => {
    await using scene = await openScene();
    const siting = { bursar: { site: "notes", full: true } };
    const bursar = processOf(scene, asker(1, { model: "bursar/auto", ...siting }));
    await bursar.start("asker", null, { id: "open", limits: { cost_usd: 1 } });
    expect(await driven(scene, bursar, "open")).toMatchObject({ status: "completed", result: ["gpt-4-large"] });
    const other = processOf(scene, asker(1, siting));
    await other.start("asker", null, { id: "named", limits: { cost_usd: 1 } });
    expect(await driven(scene, other, "named")).toMatchObject({ status: "completed", result: ["gpt-4-small"] });
    const bodies = scene.server.batches.flatMap(({ lines }) => lines.map(({ body }) => body as JsonObject));
    expect(bodies.map((body) => "bursar" in body)).toEqual([false, false]);
  });

  test("is handed over with the tier that fits, and every switch is told with both quotes", async () => {
    await using scene = await openScene();
    const bursar = processOf(scene, asker(8));
    await bursar.start("asker", null, { id: "r", limits: { cost_usd: 0.15, wall_clock_ms: 60_000 } });

    const result = await driven(scene, bursar, "r");

    expect(result.status).toBe("completed");
    const models = sentModels(scene);
    expect(models).toHaveLength(8);
    expect(models[0]).toBe("gpt-4-large");
    expect(models.at(-1)).not.toBe("gpt-4-large");
    const switches = await switchesIn(scene.store, "r");
    expect(switches[0]).toMatchObject({ list: "auto", from: null, to: { tier: "large" } });
    expect(switches[1]?.from?.quote?.cost_usd).toBeGreaterThan(switches[1]?.to.quote.cost_usd ?? 0);
    expect(new Set(switches.map(({ to }) => to.model))).toEqual(new Set(models));
    // What is held and recorded is of the model that was chosen, at the price of batches.
    const batched = ofType(await scene.links("r"), "Batched");
    expect(batched.map(({ model }) => model)).toEqual(models);
    expect(batched[0]?.quote_usd).toBeLessThan(0.034);
    expect(await scene.used("r")).toMatchObject({ reserved: {} });
  });

  test("a request that names no model goes to the desk's own, also where that one is open", async () => {
    await using scene = await openScene();
    const fixed = processOf(scene, asker(1, {}));
    await fixed.start("asker", null, { id: "r", limits: { cost_usd: 1 } });
    expect(await driven(scene, fixed, "r")).toMatchObject({ status: "completed" });
    expect(sentModels(scene)).toEqual(["gpt-4-small"]);
    const open = processOf(scene, asker(1, {}), { desk: { model: "bursar/auto" } });
    await open.start("asker", null, { id: "s", limits: { cost_usd: 1 } });
    expect(await driven(scene, open, "s")).toMatchObject({ status: "completed" });
    expect(sentModels(scene)).toEqual(["gpt-4-small", "gpt-4-large"]);
  });

  test("is held to a pin, and what is meant for us alone is not sent", async () => {
    await using scene = await openScene();
    const bursar = processOf(scene, asker(1, { model: "bursar/auto", bursar: { tier: "medium" } }));
    await bursar.start("asker", null, { id: "r", limits: { cost_usd: 1 } });
    expect(await driven(scene, bursar, "r")).toMatchObject({ status: "completed" });
    expect(sentModels(scene)).toEqual(["gpt-4-medium"]);
    expect(JSON.stringify(scene.server.batches.map(({ lines }) => lines))).not.toContain("bursar");
  });

  test("where not even the floor fits, what the list says becomes of the run", async () => {
    await using scene = await openScene();
    const bursar = processOf(scene, asker(1), { list: { when_none_fits: "pause" } });
    const limits = { cost_usd: 0.0001, wall_clock_ms: 60_000 };
    const paused = await scene.until(bursar.run("asker", null, { id: "r", limits }));
    expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "cost_usd", batches: [] });
    const stopping = processOf(scene, asker(1), { list: { when_none_fits: "stop" } });
    const policies = { cost_usd: "approval_required" } as const;
    const stopped = await scene.until(stopping.run("asker", null, { id: "s", limits, policies }));
    expect(stopped).toMatchObject({ status: "failed", failure: { code: "exhausted", dimension: "cost_usd" } });
    expect(scene.server.batches).toEqual([]);
  });

  test("is told what is wrong where the desk does not know the tier, and nothing stays held or pending", async () => {
    await using scene = await openScene();
    const { "gpt-4-small": small, ...rest } = PRICES;
    const caught = defineAgent("asker", async (ctx) => {
      const codes: string[] = [];
      for (const model of ["bursar/auto", "bursar/nothing"]) {
        await ctx.model({ ...REQUEST, model }, { wait: true }).catch((error) => codes.push(error.code));
      }
      return codes;
    });
    const bursar = processOf(scene, caught, { desk: { prices: { "gpt-4-small": small } } });
    const done = bursar.run("asker", null, { id: "r", limits: { cost_usd: 1 } });
    expect(await scene.until(done)).toMatchObject({ status: "completed", result: ["unknown_price", "invalid_input"] });
    expect(Object.keys(rest)).toContain("gpt-4-large");
    expect(await scene.used("r")).toMatchObject({ reserved: {} });
  });
});
