import OpenAI from "openai";
import { expect, test } from "vitest";
import { governedFetch } from "../../src/models/fetch/governed-fetch.js";
import { defineAgent } from "../../src/runs/agent.js";
import { openBursar } from "../../src/runs/bursar.js";
import { defineTool } from "../../src/runs/tool.js";
import { MemoryStore } from "../../src/stores/memory.js";
import { openScriptedModel } from "../../src/testing/scripted-model.js";

const USAGE = { prompt_tokens: 100, completion_tokens: 20 };
const ANN = { name: "ann", role: "operator" } as const;
const PRICES = { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
const CODE = { name: "swallows", description: "Asks, and goes on whatever comes.", input: {} };

async function scene() {
  const server = await openScriptedModel({ script: () => ({ kind: "text", text: "Tea.", usage: USAGE }) });
  const client = new OpenAI({ baseURL: server.url, apiKey: "k", fetch: governedFetch({ prices: PRICES }) });
  const ask = async () => {
    const messages = [{ role: "user" as const, content: "What?" }];
    const answer = await client.chat.completions.create({ model: "scripted", max_tokens: 50, messages });
    return answer.choices[0]?.message.content ?? "";
  };
  const store = new MemoryStore();
  const tools = [
    defineTool({ name: "asks", description: "Asks a model by itself.", input: {}, run: ask }),
    defineTool({ ...CODE, run: () => ask().catch(() => "nothing") }),
  ];
  const programs = [
    defineAgent("twice", async (ctx) => [await ctx.tool("asks", {}), await ctx.tool("asks", {})]),
    defineAgent("deaf", async (ctx) => [await ctx.tool("swallows", {}), await ctx.tool("swallows", {})]),
  ];
  const bursar = openBursar({ store, programs, tools });
  return { server, store, bursar, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

test("what a tool asks a model by itself is paid for by the run", async () => {
  await using at = await scene();
  const result = await at.bursar.run("twice", null, { limits: { cost_usd: 1 } });
  expect(result).toMatchObject({ status: "completed", result: ["Tea.", "Tea."] });
  // Two tools, and two models inside of them.
  expect(result.usage).toMatchObject({ steps: 4, llm_tokens: 240, cost_usd: 0.0006 });
});

test("a tool whose model does not fit pauses the run, and is called again after a yes", async () => {
  await using at = await scene();
  const policies = { llm_tokens: "approval_required" } as const;
  const paused = await at.bursar.run("twice", null, { limits: { llm_tokens: 250 }, policies });
  expect(paused).toMatchObject({ status: "paused", exhausted_dimension: "llm_tokens" });
  expect(at.server.count).toBe(1);
  const done = await at.bursar.approve(paused.status === "paused" ? paused.checkpoint_id : "", { by: ANN });
  expect(done).toMatchObject({ status: "completed", result: ["Tea.", "Tea."] });
  expect(at.server.count).toBe(2);
});

test("a tool that swallows the refusal cannot go on: the run is over", async () => {
  await using at = await scene();
  const policies = { llm_tokens: "hard_stop" } as const;
  const result = await at.bursar.run("deaf", null, { limits: { llm_tokens: 250 }, policies });
  expect(result).toMatchObject({ status: "failed", failure: { dimension: "llm_tokens" } });
  expect(at.server.count).toBe(1);
});
