import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { withBudget } from "../../../src/ambient/with-budget.js";
import { governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { Budget } from "../../../src/prompt/budget.js";
import { Deadline } from "../../../src/prompt/deadline.js";
import type { Tool } from "../../../src/prompt/tool.js";
import { FakeClock } from "../../../src/testing/clock/fake-clock.js";
import { until } from "../../testing/scripted/asking.js";
import { failureOf, overageOf } from "../scripted.js";
import { calls, says, scene, used, WIRES } from "./wires.js";

const greeting = { name: "greeting", text: "Say hello." };
const limited = (input: number | null, output: number | null) => new Budget({ tokenLimit: { input, output } });
const governed = () => governedFetch({ prices: { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } } });

describe.each(WIRES)("$name", (wire) => {
  test("the budget around pays in money, and the prompt's own counts tokens", async () => {
    await using at = await scene(wire, [calls("look", 400, 20), says("Done.", 600, 30)], { fetch: governed() });
    const budget = limited(10_000, 1_000);
    const look: Tool = { name: "look", handler: () => "something" };

    const state = await withBudget({ cost_usd: 1 }, async (around) => {
      const { text } = await at.adapter.evaluate({ ...greeting, tools: [look] }, { budget });
      expect(text).toBe("Done.");
      return around.state();
    });

    expect(used(budget)).toEqual({ input: 1_000, output: 50 });
    expect(state.used).toMatchObject({ steps: 2, llm_input_tokens: 1_000, llm_output_tokens: 50, cost_usd: 0.0015 });
    expect(state.held).toEqual({});
  });

  test("what the budget around refuses is not sent, costs no tokens, and says which dimension it was", async () => {
    await using at = await scene(wire, ["never"], { fetch: governed() });
    const budget = limited(10_000, 1_000);

    const error = await withBudget({ cost_usd: 0.00001 }, () => failureOf(at.adapter.evaluate(greeting, { budget })));

    expect(error).toMatchObject({ phase: "request", message: expect.stringContaining("failed") });
    expect(BudgetExceededError.from(error)?.report).toMatchObject({ code: "budget_exceeded", dimension: "cost_usd" });
    expect(used(budget)).toEqual({ input: 0, output: 0 });
    expect(at.server.count).toBe(0);
  });

  test("what the prompt's budget refuses costs no money", async () => {
    await using at = await scene(wire, ["never"], { fetch: governed() });

    const state = await withBudget({ cost_usd: 1 }, async (around) => {
      await overageOf(at.adapter.evaluate(greeting, { budget: limited(100, 1_000) }));
      return around.state();
    });

    expect(state.used.cost_usd).toBe(0);
    expect(state.used.steps).toBeUndefined();
    expect(at.server.count).toBe(0);
  });

  test("an answer is cut to what the budget around can pay, and says so", async () => {
    const text = "word ".repeat(2_000);
    await using at = await scene(wire, [{ kind: "text", text }], { fetch: governed() });

    const [response, state] = await withBudget({ cost_usd: 0.002 }, async (around) => [
      await at.adapter.evaluate(greeting, { budget: limited(null, 4_000) }),
      await around.state(),
    ]);

    expect(response).toMatchObject({ ending: "length", estimated: false });
    expect(Number(at.bodies[0]?.[wire.limit])).toBeLessThan(200);
    expect(state.used.cost_usd).toBeLessThanOrEqual(0.002);
  });

  test("a parent whose child had no money does not go on for free", async () => {
    await using at = await scene(wire, () => calls("delegate", 100, 100), { fetch: governed(), maxOutputTokens: 100 });
    const swallowed: unknown[] = [];
    const tool: Tool = {
      name: "delegate",
      handler: (_input, { delegate }) => delegate(greeting).catch((error: unknown) => swallowed.push(error)),
    };

    const { error, state } = await withBudget({ steps: 1 }, async (around) => ({
      error: await failureOf(at.adapter.evaluate({ ...greeting, tools: [tool] }, { budget: limited(null, 9_000) })),
      state: await around.state(),
    }));

    expect(swallowed).toHaveLength(1);
    expect(BudgetExceededError.from(error)?.report.dimension).toBe("steps");
    expect(at.server.count).toBe(1);
    expect(state.used.steps).toBe(1);
  });

  test("a deadline that aborts a request leaves nothing held", async () => {
    const clock = new FakeClock();
    await using at = await scene(wire, [{ kind: "hang" }], { fetch: governed(), clock, timer: clock });
    const budget = new Budget({ deadline: new Deadline(clock.now().instant + 5_000) }, { clock });

    await withBudget({ cost_usd: 1 }, async (around) => {
      const evaluation = overageOf(at.adapter.evaluate(greeting, { budget }));
      await until(() => at.server.count === 1);
      clock.advance(5_000);
      expect(await evaluation).toMatchObject({ phase: "budget", dimension: "deadline" });
      await until(() => at.server.aborted === 1);
      await turnsUntil(async () => Object.keys((await around.state()).held).length === 0);
      expect((await around.state()).used.llm_output_tokens).toBe(4_096);
    });
  });

  test("outside of any budget a governed request is not sent", async () => {
    await using at = await scene(wire, ["never"], { fetch: governed() });

    const error = await failureOf(at.adapter.evaluate(greeting));

    expect(BudgetExceededError.from(error)?.report.code).toBe("no_budget");
    expect(at.server.count).toBe(0);
  });
});

/** Lets other things happen until it is so. */
async function turnsUntil(isSo: () => Promise<boolean>): Promise<void> {
  while (!(await isSo())) await setImmediate();
}
