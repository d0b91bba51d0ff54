import { createOpenAI } from "@ai-sdk/openai";
import { Agent } from "@mastra/core/agent";
import { createTool } from "@mastra/core/tools";
import { expect, test } from "vitest";
import { z } from "zod";
import { openBudget } from "../../packages/bursar/src/ambient/open-budget.js";
import { govern } from "../../packages/bursar/src/models/ai/govern.js";
import { BudgetExceededError } from "../../packages/bursar/src/models/meter/budget-exceeded-error.js";
import { openScriptedModel } from "../../packages/bursar/src/testing/scripted-model.js";

const MODEL = "gpt-4.1";
const PRICES = { [MODEL]: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };
const USAGE = { prompt_tokens: 100, completion_tokens: 20 };

async function withScene(script, limits, work) {
  const server = await openScriptedModel({ script, models: [MODEL] });
  const budget = await openBudget(limits);
  let searches = 0;
  const search = createTool({
    id: "search",
    description: "Searches.",
    inputSchema: z.object({ query: z.string() }),
    execute: async () => ({ found: ++searches }),
  });
  const model = govern(createOpenAI({ baseURL: server.url, apiKey: "k" }).chat(MODEL), { prices: PRICES });
  const agent = new Agent({
    id: "clerk",
    name: "clerk",
    instructions: "Find bolts.",
    model,
    tools: { search },
    maxRetries: 0,
  });
  try {
    await work({ server, budget, agent, searches: () => searches });
  } finally {
    await server[Symbol.asyncDispose]();
    await budget.end();
  }
}

const searching = ({ number }) =>
  number === 1
    ? { kind: "text", text: "", tool_calls: [{ name: "search", arguments: { query: "bolts" } }], usage: USAGE }
    : { kind: "text", text: "None left.", usage: USAGE };

test("an agent of Mastra's is charged what the wire says, with its tools", () =>
  withScene(searching, { cost_usd: 1 }, async (at) => {
    const { text } = await at.budget.run(() => at.agent.generate("Bolts?", { maxSteps: 3 }));
    expect([text, at.searches(), at.server.count]).toEqual(["None left.", 1, 2]);
    const { used, held } = await at.budget.state();
    expect(used).toMatchObject({ steps: 2, llm_tokens: 240, cost_usd: 0.0006 });
    expect(held).toEqual({});
  }));

test("so is one that streams", () =>
  withScene(searching, { cost_usd: 1 }, async (at) => {
    const stream = await at.budget.run(() => at.agent.stream("Bolts?", { maxSteps: 3 }));
    let text = "";
    for await (const piece of stream.textStream) text += piece;
    expect(text).toBe("None left.");
    expect((await at.budget.state()).used).toMatchObject({ steps: 2, llm_tokens: 240, cost_usd: 0.0006 });
  }));

test("what does not fit is not sent, and the agent fails for that reason", () =>
  withScene(searching, { cost_usd: 0.000001 }, async (at) => {
    const error = await at.budget.run(() => at.agent.generate("Bolts?").catch((each) => each));
    expect(BudgetExceededError.from(error)?.report).toMatchObject({ dimension: "cost_usd" });
    expect(at.server.count).toBe(0);
  }));
