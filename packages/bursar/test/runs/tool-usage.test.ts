import { describe, expect, test } from "vitest";
import { defineAgent } from "../../src/runs/agent.js";
import type { StartOptions } from "../../src/runs/opening.js";
import { defineTool, type Tool } from "../../src/runs/tool.js";
import { currentPurse } from "../../src/runtime/purse.js";
import { Theatre } from "./stage.js";

type More = Partial<Pick<Tool, "quote" | "meter">>;

/** Runs a program that calls one tool, which gives this back; what the run has used then. */
async function usageOf(result: unknown, more: More = {}, options: StartOptions = {}) {
  const { run } = toolRun(() => result, more);
  return (await run(options)).usage as Record<string, number>;
}

function toolRun(work: Tool["run"], more: More = {}) {
  const tool = defineTool({ name: "ask", description: "Asks.", input: { type: "object" }, ...more, run: work });
  const theatre = new Theatre([defineAgent("asks", (ctx) => ctx.tool("ask", {}))], [tool]);
  const bursar = theatre.process();
  return { theatre, run: (options: StartOptions = {}) => bursar.run("asks", null, { id: "r", ...options }) };
}

const TOKENS = { llm_input_tokens: 7, llm_output_tokens: 3, llm_tokens: 10 };

describe("usage in a tool's result is charged", () => {
  test.each<[unknown]>([
    [{ metadata: { usage: { input_tokens: 7, output_tokens: 3 } } }],
    [{ metadata: { usage: { input_tokens: "7", output_tokens: "3" } } }],
    [{ metadata: { "usage.llm_input_tokens": 7, "usage.llm_output_tokens": 3 } }],
    [{ metadata: { usage_input_tokens: 7, usage_output_tokens: "3" } }],
    [{ usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } }],
    [{ usage: { promptTokens: 7, completionTokens: 3 } }],
    [{ usageMetadata: { promptTokenCount: 7, candidatesTokenCount: 3 } }],
    [{ response_metadata: { token_usage: { prompt_tokens: 7, completion_tokens: 3 } } }],
    [{ answer: "tea", llm_input_tokens: 7, llm_output_tokens: 3 }],
    [{ answer: "tea", usage_llm_input_tokens: 7, "usage.output_tokens": 3 }],
    [{ content: [], _meta: { usage: { input_tokens: 7, output_tokens: 3 } } }],
    [{ content: [], structuredContent: { usage: { input_tokens: 7, output_tokens: 3 } } }],
  ])("%j", async (result) => {
    expect(await usageOf(result)).toMatchObject(TOKENS);
  });

  test.each<[unknown, number]>([
    [{ total_cost_usd: 0.01 }, 0.01],
    [{ total_cost_usd: "0.01" }, 0.01],
    [{ metadata: { total_cost_usd: 0.01 } }, 0.01],
    [{ metadata: { cost: "1e-2" } }, 0.01],
    [{ usage: { cost: 0.01 } }, 0.01],
    [{ usage_cost: 0.01 }, 0.01],
    [{ metadata: { usage: { cost_usd: 0.01 }, total_cost_usd: 0.02 } }, 0.02],
  ])("in dollars: %j", async (result, cost_usd) => {
    expect(await usageOf(result)).toMatchObject({ cost_usd });
    expect(await usageOf(result, { quote: { cost_usd: 0.05 } })).toMatchObject({ cost_usd });
    // Dearer than it was quoted.
    expect(await usageOf(result, { quote: { cost_usd: 0.001 } })).toMatchObject({ cost_usd });
  });

  test("where a quote says less, and the run is overdrawn", async () => {
    const { run, theatre } = toolRun(() => ({ total_cost_usd: 0.09 }), { quote: { cost_usd: 0.01 } });
    expect(await run({ limits: { cost_usd: 0.05 } })).toMatchObject({ usage: { cost_usd: 0.09 } });
    expect(await theatre.events("r")).toContain("Exhausted");
  });

  test("each figure by itself: what is not reported is charged as quoted", async () => {
    const quote = { cost_usd: 0.05, llm_tokens: 100 };
    expect(await usageOf({ total_cost_usd: 0.01 }, { quote })).toMatchObject({ cost_usd: 0.01, llm_tokens: 100 });
  });

  test("unless the tool says itself how it is metered", async () => {
    const meter = () => ({ cost_usd: 0.03 });
    expect(await usageOf({ total_cost_usd: 0.01 }, { meter })).toMatchObject({ cost_usd: 0.03 });
  });
});

describe("what is no usage in a tool's result is not charged", () => {
  test.each<[unknown]>([
    [{ total_cost_usd: -1 }],
    [{ total_cost_usd: Number.NaN }],
    [{ total_cost_usd: "abc" }],
    [{ total_cost_usd: "-7" }],
    [{ total_cost_usd: "0x10" }],
    [{ total_cost_usd: "" }],
    [{ total_cost_usd: "7 dollars" }],
    [{ total_cost_usd: "Infinity" }],
    [{ total_cost_usd: 1e300 }],
    [{ total_cost_usd: "1e300" }],
    [{ total_cost_usd: ["0.01"] }],
    [{ metadata: "usage" }],
    [{ items: [{ usage: { cost: 3 } }] }],
    ["total_cost_usd"],
    [null],
    // The price of a hotel, and how many steps lead up to it.
    [{ name: "Sea View", cost: 120, total_cost: 120, steps: 42, tokens: 3, fuel: 9 }],
  ])("%j", async (result) => {
    const usage = await usageOf(result);
    expect([usage.cost_usd ?? 0, usage.llm_tokens ?? 0, usage.steps]).toEqual([0, 0, 1]);
    const quoted = await usageOf(result, { quote: { cost_usd: 0.05 } });
    expect(quoted.cost_usd).toBe(0.05);
  });

  test("fewer steps than were made, or none", async () => {
    expect(await usageOf({ metadata: { usage: { steps: 0 } } })).toMatchObject({ steps: 1 });
  });

  test("what a program itself computes", async () => {
    const forges = defineAgent("forges", async (ctx) => {
      await ctx.step("mine", () => ({ usage: { input_tokens: 0 }, total_cost_usd: 0 }));
      return { usage: { input_tokens: 9 }, total_cost_usd: 0.4 };
    });
    const { usage } = await new Theatre([forges]).process().run("forges", null);
    expect(usage).not.toHaveProperty("cost_usd", 0.4);
  });
});

describe("calls that a tool makes itself", () => {
  const REPORT = { input_tokens: 50, output_tokens: 30 };

  /** A governed call inside of the tool, as an adapter makes it. */
  async function paid(cost_usd: number) {
    const purse = currentPurse();
    if (purse === null) throw new Error("there is no purse");
    const call = { budget: purse.budget, capability_id: "llm", kind: "model", call_id: purse.name?.() ?? "" } as const;
    await purse.gate.call({ ...call, asked: { cost_usd, steps: 0 }, inner: true }, async () => ({
      value: null,
      usage: { ...REPORT, cost_usd },
    }));
  }

  test("are charged once, where the tool reports them as well", async () => {
    const { run } = toolRun(async () => {
      await paid(0.02);
      return { usage: REPORT, total_cost_usd: 0.02 };
    });
    expect((await run()).usage).toMatchObject({
      cost_usd: 0.02,
      llm_input_tokens: 50,
      llm_output_tokens: 30,
      llm_tokens: 80,
    });
  });

  test("are charged once, where the tool was quoted as well", async () => {
    const { run } = toolRun(
      async () => {
        await paid(0.02);
        return { total_cost_usd: 0.02 };
      },
      { quote: { cost_usd: 0.05 } },
    );
    expect((await run()).usage).toMatchObject({ cost_usd: 0.02 });
  });

  test("leave what the tool took besides", async () => {
    const { run } = toolRun(async () => {
      await Promise.all([paid(0.02), paid(0.01)]);
      return { total_cost_usd: 0.05 };
    });
    expect((await run()).usage).toMatchObject({ cost_usd: 0.05 });
  });

  test("are charged once, where the tool throws what the provider said", async () => {
    const { run } = toolRun(async () => {
      await paid(0.02);
      throw Object.assign(new Error("cut off"), { usage: REPORT });
    });
    expect((await run()).usage).toMatchObject({ cost_usd: 0.02, llm_tokens: 80 });
  });

  test("do not make another tool's report less", async () => {
    const tool = (name: string, run: Tool["run"]) =>
      defineTool({ name, description: name, input: { type: "object" }, run });
    const tools = [tool("pays", () => paid(0.02)), tool("reports", () => ({ total_cost_usd: 0.02 }))];
    const both = defineAgent("both", (ctx) => Promise.all([ctx.tool("pays", {}), ctx.tool("reports", {})]));
    expect((await new Theatre([both], tools).process().run("both", null)).usage).toMatchObject({ cost_usd: 0.04 });
  });
});
