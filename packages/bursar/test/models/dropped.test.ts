import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { OpenAIProvider } from "@openai/agents";
import { describe, expect, test } from "vitest";
import { type OpenBudget, openBudget } from "../../src/ambient/open-budget.js";
import { govern as governModel } from "../../src/models/ai/govern.js";
import { budget as middleware } from "../../src/models/anthropic/budget.js";
import { budget as chainBudget } from "../../src/models/langchain/budget.js";
import { govern as governProvider } from "../../src/models/openai-agents/govern.js";
import { governedProvider } from "../../src/models/openai-agents/governed-provider.js";
import type { ScriptedHalf } from "../../src/testing/scripted/answer.js";
import { openScriptedModel, type ScriptedModel } from "../../src/testing/scripted-model.js";
import { collectUntil } from "./collecting.js";
import { openai as langchain } from "./langchain/scene.js";

const MODEL = "gpt-4.1";
const PRICE = { input_usd_per_mtok: 1, output_usd_per_mtok: 10 };
const prices = { [MODEL]: PRICE, scripted: PRICE };
const TEXT = "All work and no play makes Jack a dull boy. ".repeat(20);
const USAGE = { prompt_tokens: 30, completion_tokens: 7 };
const HANGING: ScriptedHalf = { kind: "half", text: TEXT, usage: USAGE, events: 8, ending: "hang" };

/** Begins a stream, reads a little of it where that begins it, and keeps nothing. */
type Begin = (at: ScriptedModel) => PromiseLike<unknown>;

const sdkModel = ({ url }: ScriptedModel) =>
  governModel(createOpenAI({ baseURL: url, apiKey: "k" }).chat(MODEL), { prices });
const PROMPT = [{ role: "user" as const, content: [{ type: "text" as const, text: "Go." }] }];
const REQUEST = {
  input: "Go.",
  modelSettings: { maxTokens: 1000 },
  tools: [],
  outputType: "text" as const,
  handoffs: [],
  tracing: false,
};
const nothing = () => null;

const BEGIN: Readonly<Record<string, Begin>> = {
  "bursar/ai": (at) => sdkModel(at).doStream({ prompt: PROMPT, maxOutputTokens: 1000 }).then(nothing),
  "bursar/ai, after one read": (at) =>
    sdkModel(at)
      .doStream({ prompt: PROMPT, maxOutputTokens: 1000 })
      .then(({ stream }) => void stream.getReader().read()),
  "bursar/openai-agents": (at) =>
    Promise.resolve(
      governProvider(new OpenAIProvider({ apiKey: "k", baseURL: at.url }), { prices }).getModel("scripted"),
    ).then((model) => model.getStreamedResponse(REQUEST)[Symbol.asyncIterator]().next().then(nothing)),
  "bursar/openai-agents, on the wire": (at) =>
    Promise.resolve(governedProvider({ apiKey: "k", baseURL: at.url, prices }).getModel("scripted")).then((model) =>
      model.getStreamedResponse(REQUEST)[Symbol.asyncIterator]().next().then(nothing),
    ),
  "bursar/anthropic": (at) =>
    new Anthropic({ baseURL: at.origin, apiKey: "k", middleware: [middleware({ prices })] }).messages
      .create({ model: "scripted", max_tokens: 1000, messages: [{ role: "user", content: "Go." }], stream: true })
      .then(nothing),
  "bursar/langchain": (at) =>
    langchain(at, chainBudget({ prices }).openai)
      .stream("Go.")
      .then((stream) => stream.next())
      .then(nothing),
};

async function isSettled(budget: OpenBudget): Promise<boolean> {
  return !(await budget.isBusy());
}

describe("a stream that nobody can read any more", () => {
  test.each(Object.keys(BEGIN))("is settled when it is collected: %s", async (how) => {
    await using at = await openScriptedModel({ script: [HANGING], models: [MODEL, "scripted"] });
    const budget = await openBudget({ cost_usd: 1 });
    await budget.run(() => (BEGIN[how] as Begin)(at));
    await collectUntil(() => isSettled(budget));
    const { used, held } = await budget.state();
    expect(used).toMatchObject({ steps: 1 });
    expect(Number(used.llm_output_tokens)).toBeGreaterThan(0);
    expect(held).toEqual({});
    await budget.end();
  });
});
