import { describe, expect, test } from "vitest";
import { openBudget } from "../../../src/ambient/open-budget.js";
import { StaleError } from "../../../src/core/document.js";
import type { Operation } from "../../../src/core/operation.js";
import { tieredModel } from "../../../src/models/tiers/tiered-model.js";
import type { Model } from "../../../src/ports/model.js";
import { defineAgent } from "../../../src/runs/agent.js";
import { claimId } from "../../../src/runs/claim.js";
import { MemoryStore } from "../../../src/stores/memory.js";
import { Latch, settle, Theatre } from "../../runs/stage.js";
import { openTiers, PRICES, switchesIn, tiersOf } from "./scene.js";

/** A store that fails the first time that a switch is to be written. */
function failing(store: MemoryStore, fault: Error): { readonly seen: MemoryStore; readonly failed: () => boolean } {
  let failed = false;
  const seen = new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== "function") return value;
      return (...args: unknown[]) => {
        const operations = name === "apply" ? (args[0] as readonly Operation[]) : [];
        const tells = operations.some((each) => each.op === "record" && each.action.action_type === "TierSwitched");
        if (!tells || failed) return Reflect.apply(value, target, args);
        failed = true;
        return Promise.reject(fault);
      };
    },
  });
  return { seen, failed: () => failed };
}

/** What each tier costs, without anybody to ask. */
const model: Model = {
  name: "bursar/auto",
  quote: (request) => {
    const { model: name } = request as { model: keyof typeof PRICES };
    return { cost_usd: PRICES[name].output_usd_per_mtok / 1000 };
  },
  call: async (request) => ({ value: request, usage: { cost_usd: 0.001 } }),
};

describe("a switch that could not be written", () => {
  test("is told with the next call", async () => {
    await using at = await openTiers();
    const { seen, failed } = failing(new MemoryStore(), new Error("the disk is full"));
    await using budget = await openBudget({ cost_usd: 5 }, { store: seen });

    await expect(budget.run(() => at.ask())).rejects.toThrow();
    expect(failed()).toBe(true);
    await budget.run(() => at.ask());

    const switches = await switchesIn(seen, budget.purse.chain);
    expect(switches).toMatchObject([{ from: null, to: { tier: "large" }, reason: "first" }]);
  });

  test("because the run was lost, is told by whoever goes on with it, though he chose before", async () => {
    const asker = defineAgent("asker", (ctx) => ctx.model({ prompt: "Hello?" }));
    const theatre = new Theatre([asker]);
    const fault = new StaleError("lease", claimId("a"), 1, null);
    const { seen, failed } = failing(theatre.store, fault);
    await using bursar = theatre.process({ store: seen, model: tieredModel(model, tiersOf()) });

    expect(await theatre.until(bursar.run("asker", null, { id: "a" }))).toMatchObject({ status: "completed" });

    expect(failed()).toBe(true);
    expect(await switchesIn(theatre.store, "a")).toMatchObject([{ from: null, to: { tier: "large" } }]);
  });

  test("because the run stood still meanwhile, is told when it goes on", async () => {
    const latch = new Latch();
    const slow: Model = {
      ...model,
      quote: async (request) => {
        await latch.opened;
        return model.quote(request);
      },
    };
    const asker = defineAgent("asker", (ctx) => ctx.model({ prompt: "Hello?" }));
    const theatre = new Theatre([asker]);
    const options = { model: tieredModel(slow, tiersOf()), claim_ms: 1000 };
    const bursar = theatre.process(options);
    const { id } = await bursar.start("asker", null, { id: "a" });
    const left = bursar.drive(id).catch(() => {});
    await settle();
    await Promise.all([bursar[Symbol.asyncDispose](), left]);
    latch.open();
    await settle();
    expect(await switchesIn(theatre.store, "a")).toEqual([]);
    await using other = theatre.process(options);

    expect(await theatre.until(other.run("asker", null, { id: "a" }))).toMatchObject({ status: "completed" });

    expect(await switchesIn(theatre.store, "a")).toMatchObject([{ from: null, to: { tier: "large" } }]);
  });
});
