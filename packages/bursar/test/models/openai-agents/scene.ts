import { Agent, OpenAIProvider, Runner, setTracingDisabled, tool } from "@openai/agents";
import { z } from "zod";
import { govern } from "../../../src/models/openai-agents/govern.js";
import { governedProvider } from "../../../src/models/openai-agents/governed-provider.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";

// Traces go to OpenAI's own server.
setTracingDisabled(true);

export const PRICES = { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };

/** The ways in which the SDK's models can be governed. */
export const WAYS = {
  "the model": (url: string) => govern(new OpenAIProvider({ apiKey: "k", baseURL: url }), { prices: PRICES }),
  "the wire": (url: string) => governedProvider({ apiKey: "k", baseURL: url, prices: PRICES }),
  "the model over a governed wire": (url: string) =>
    govern(governedProvider({ apiKey: "k", baseURL: url, prices: PRICES }), { prices: PRICES }),
  "the model, over Chat Completions": (url: string) =>
    govern(new OpenAIProvider({ apiKey: "k", baseURL: url, useResponses: false }), { prices: PRICES }),
} as const;

export interface Scene extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly runner: Runner;
}

export async function openScene(script: Script, way: keyof typeof WAYS = "the model"): Promise<Scene> {
  const model = await openScriptedModel({ script });
  const runner = new Runner({ modelProvider: WAYS[way](model.url) });
  return { model, runner, [Symbol.asyncDispose]: () => model[Symbol.asyncDispose]() };
}

/** An agent with a tool that remembers how often it was used. */
export function weatherAgent(model = "scripted") {
  const asked: string[] = [];
  const weather = tool({
    name: "weather",
    description: "Tells the weather of a city.",
    parameters: z.object({ city: z.string() }),
    execute: async ({ city }) => {
      asked.push(city);
      return `It rains in ${city}.`;
    },
  });
  return { asked, agent: new Agent({ name: "Forecaster", model, instructions: "Be brief.", tools: [weather] }) };
}
