import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { budget } from "../../../src/models/langchain/budget.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";

export const PRICES = { scripted: { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } };

/** The ways in which LangChain's models can be governed, with both providers. */
export const WAYS = {
  "the callback alone, OpenAI": (at: ScriptedModel) => openai(at, { callbacks: budget({ prices: PRICES }).callbacks }),
  "the wire alone, OpenAI": (at: ScriptedModel) =>
    openai(at, { configuration: { fetch: budget({ prices: PRICES }).fetch } }),
  "both, OpenAI": (at: ScriptedModel) => openai(at, budget({ prices: PRICES }).openai),
  "both, OpenAI's Responses": (at: ScriptedModel) =>
    openai(at, { ...budget({ prices: PRICES }).openai, useResponsesApi: true }),
  "the callback alone, Anthropic": (at: ScriptedModel) =>
    anthropic(at, { callbacks: budget({ prices: PRICES }).callbacks }),
  "both, Anthropic": (at: ScriptedModel) => anthropic(at, budget({ prices: PRICES }).anthropic),
} as const;

type OpenAIFields = Omit<NonNullable<ConstructorParameters<typeof ChatOpenAI>[0]>, "model">;
type AnthropicFields = Omit<NonNullable<ConstructorParameters<typeof ChatAnthropic>[0]>, "model">;

export function openai(at: ScriptedModel, { configuration, ...fields }: OpenAIFields = {}) {
  return new ChatOpenAI({
    model: "scripted",
    apiKey: "k",
    maxTokens: 500,
    ...fields,
    configuration: { baseURL: at.url, ...configuration },
  });
}

function anthropic(at: ScriptedModel, fields: AnthropicFields = {}) {
  return new ChatAnthropic({ model: "scripted", apiKey: "k", maxTokens: 500, anthropicApiUrl: at.origin, ...fields });
}

export interface Scene extends AsyncDisposable {
  readonly provider: ScriptedModel;
  readonly model: ReturnType<(typeof WAYS)[keyof typeof WAYS]>;
}

export async function openScene(script: Script, way: keyof typeof WAYS): Promise<Scene> {
  const provider = await openScriptedModel({ script });
  return { provider, model: WAYS[way](provider), [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose]() };
}
