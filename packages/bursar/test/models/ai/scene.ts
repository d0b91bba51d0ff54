import { createAnthropic } from "@ai-sdk/anthropic";
import { createOpenAI } from "@ai-sdk/openai";
import { type OpenBudget, type OpenBudgetOptions, openBudget } from "../../../src/ambient/open-budget.js";
import type { BudgetLimits } from "../../../src/core/input.js";
import { type GovernedFetchOptions, governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";

export const GPT = "gpt-4.1";
export const CLAUDE = "claude-opus-4-5";
/** Prices that make sums easy to check: a dollar for a million tokens of input, ten for output. */
const PRICE = { input_usd_per_mtok: 1, output_usd_per_mtok: 10 };
export const PRICES = { [GPT]: PRICE, [CLAUDE]: PRICE, vectors: PRICE };

/** The wires on which one and the same thing is tried, each with a model of the SDK that speaks it. */
export const WIRES = ["openai-chat", "openai-responses", "anthropic-messages"] as const;
export type WireName = (typeof WIRES)[number];

export function modelOn(
  wire: WireName,
  { url: baseURL }: Pick<ScriptedModel, "url">,
  governed: GovernedFetchOptions | null = null,
) {
  const config = { baseURL, apiKey: "k", ...(governed && { fetch: governedFetch({ prices: PRICES, ...governed }) }) };
  if (wire === "anthropic-messages") return createAnthropic(config)(CLAUDE);
  return wire === "openai-chat" ? createOpenAI(config).chat(GPT) : createOpenAI(config).responses(GPT);
}

/** A provider with a script, and a budget. */
export interface Scene extends AsyncDisposable {
  readonly server: ScriptedModel;
  readonly budget: OpenBudget;
}

export async function openScene(
  script: Script,
  limits: BudgetLimits,
  options: OpenBudgetOptions = {},
  models: readonly string[] = [GPT, CLAUDE, "vectors"],
): Promise<Scene> {
  const server = await openScriptedModel({ script, models });
  const budget = await openBudget(limits, options);
  return {
    server,
    budget,
    [Symbol.asyncDispose]: async () => {
      await server[Symbol.asyncDispose]();
      await budget.end();
    },
  };
}

/** Waits until no call is under way in a budget any more. */
export async function settled(budget: OpenBudget): Promise<void> {
  while (await budget.isBusy()) await new Promise((resolve) => setImmediate(resolve));
}

/** What a budget has used, with a 0 for what it has not. */
export async function usedIn(budget: OpenBudget): Promise<Readonly<Record<string, number>>> {
  const none = { steps: 0, llm_input_tokens: 0, llm_output_tokens: 0, llm_tokens: 0, cost_usd: 0, iterations: 0 };
  return { ...none, ...(await budget.state()).used };
}
