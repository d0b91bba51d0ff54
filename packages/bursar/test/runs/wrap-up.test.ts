import { expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import type { RunError } from "../../src/runs/error.js";
import { defineTool } from "../../src/runs/tool.js";
import { ANN, listOf, pausedOf, Theatre } from "./stage.js";

/** Thinks until it may not any more, then hands over what it has. Each thought is quoted at 0.01 USD and 100 tokens. */
const writer = defineAgent("writer", async (ctx) => {
  let thoughts = 0;
  try {
    for (;;) {
      await ctx.model({ prompt: `thought ${thoughts}` });
      thoughts++;
    }
  } catch {
    await ctx.final.model({ prompt: "sum up" });
    return { thoughts };
  }
});

test("the final answer fits although the limit is hit", async () => {
  const theatre = new Theatre([writer]);
  const options = { id: "r", limits: { cost_usd: 0.04, llm_tokens: null }, wrap_up: { cost_usd: 0.01 } };
  const result = await theatre.until(theatre.process().run("writer", null, options));
  // Three thoughts cost 0.024, so 0.006 are left of the 0.03 that ordinary calls may use.
  expect(result).toMatchObject({
    status: "failed",
    result: { thoughts: 3 },
    failure: { code: "exhausted", dimension: "cost_usd" },
    usage: { cost_usd: 0.032 },
  });
  expect(theatre.prompts.at(-1)).toEqual({ prompt: "sum up" });
});

test("nothing but the final answer may use what is set aside", async () => {
  const theatre = new Theatre([writer]);
  const limits = { steps: 4 };
  const result = await theatre.until(theatre.process().run("writer", null, { id: "r", limits, wrap_up: { steps: 1 } }));
  expect(result).toMatchObject({ status: "failed", result: { thoughts: 3 }, usage: { steps: 4 } });
  expect(theatre.prompts).toHaveLength(4);
});

test("the final answer may not use more than was set aside", async () => {
  const greedy = defineAgent("greedy", async (ctx) => {
    try {
      for (;;) await ctx.tool("echo", { text: "work" });
    } catch {
      const codes: string[] = [];
      for (let turn = 0; turn < 3; turn++) {
        codes.push(
          await ctx.final.tool("echo", { text: "final" }).then(
            () => "done",
            ({ code }: RunError) => code,
          ),
        );
      }
      return codes;
    }
  });
  const theatre = new Theatre([greedy]);
  const options = { id: "r", limits: { steps: 3 }, wrap_up: { steps: 1 } };
  const result = await theatre.until(theatre.process().run("greedy", null, options));
  expect(result).toMatchObject({ status: "failed", result: ["done", "exhausted", "exhausted"], usage: { steps: 3 } });
  expect(theatre.said).toEqual(["work", "work", "final"]);
});

test("a child cannot use what its parent has set aside", async () => {
  const child = defineAgent("child", async (ctx) => {
    for (;;) await ctx.final.tool("echo", { text: "child" });
  });
  const parent = defineAgent("parent", async (ctx) => {
    await ctx.spawn("child", null, "share").catch(() => {});
    await ctx.final.tool("echo", { text: "parent" });
    return "handed over";
  });
  const theatre = new Theatre([parent, child]);
  const options = { id: "r", limits: { steps: 4 }, wrap_up: { steps: 1 } };
  const result = await theatre.until(theatre.process().run("parent", null, options));
  expect(theatre.said).toEqual(["child", "child", "parent"]);
  expect(result).toMatchObject({ result: "handed over", usage: { steps: 4 } });
});

test("a run that comes to a good end without its reserve gives it back", async () => {
  const modest = defineAgent("modest", async (ctx) => ctx.tool("echo", { text: "done" }));
  const theatre = new Theatre([modest]);
  const options = { id: "r", limits: { steps: 5 }, wrap_up: { steps: 1, cost_usd: 0.1 } };
  const result = await theatre.until(theatre.process().run("modest", null, options));
  expect(result).toMatchObject({ status: "completed", usage: { steps: 1, cost_usd: 0 } });
  expect(await theatre.store.budget("r")).toMatchObject({ ended: true, open: 0, aside: {} });
  expect(await theatre.store.budget("r/wrap-up")).toMatchObject({ ended: true });
});

test("a final answer without a reserve uses the run's own budget", async () => {
  const plain = defineAgent("plain", async (ctx) => ctx.final.tool("echo", { text: "final" }));
  const theatre = new Theatre([plain]);
  expect(await theatre.until(theatre.process().run("plain", null))).toMatchObject({
    status: "completed",
    usage: { steps: 1 },
  });
});

test("time can be set aside: the final answer is given when the rest of the clock has run out", async () => {
  const slow = defineTool({
    name: "slow",
    description: "Never answers.",
    input: {},
    run: (_: unknown, { signal }) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  });
  const late = defineAgent("late", async (ctx) => {
    try {
      return await ctx.tool("slow");
    } catch {
      return ctx.final.tool("echo", { text: "in time" });
    }
  });
  const theatre = new Theatre([late], [slow]);
  const options = { id: "r", limits: { wall_clock_ms: 10_000 }, wrap_up: { wall_clock_ms: 2000 } };
  const result = await theatre.until(theatre.process().run("late", null, options));
  expect(theatre.said).toEqual(["in time"]);
  expect(result).toMatchObject({ status: "failed", result: "in time", failure: { dimension: "wall_clock_ms" } });
});

test("a reserve that the limits do not have is refused, and nothing is started", async () => {
  const theatre = new Theatre([writer]);
  const start = (wrap_up: Readonly<Record<string, number>>) =>
    theatre.process().run("writer", null, { id: "r", limits: { steps: 2, fuel: null }, wrap_up });
  await expect(start({ steps: 3 })).rejects.toThrow("wrap_up.steps is more than the budget has left");
  await expect(start({ fuel: 1 })).rejects.toThrow("wrap_up.fuel has no limit");
  await expect(start({ stpes: 1 })).rejects.toThrow("did you mean steps");
  expect(await listOf(theatre.store.documents("run"))).toEqual([]);
});

test("a paused run keeps its reserve, and can use it after the pause", async () => {
  const theatre = new Theatre([writer]);
  const options = {
    id: "r",
    limits: { llm_tokens: 170, cost_usd: 0.04 },
    wrap_up: { cost_usd: 0.01 },
    policies: { llm_tokens: "approval_required" },
  } as const;
  const paused = pausedOf(await theatre.until(theatre.process().run("writer", null, options)));
  expect(paused.exhausted_dimension).toBe("llm_tokens");
  const extensions = { llm_tokens: 10_000 };
  const done = await theatre.until(theatre.process().approve(paused.checkpoint_id, { by: ANN, extensions }));
  expect(done).toMatchObject({ status: "failed", result: { thoughts: 3 }, failure: { dimension: "cost_usd" } });
});
