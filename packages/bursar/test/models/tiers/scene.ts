import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { Json } from "../../../src/core/chain/canonical.js";
import { type GovernedFetchOptions, governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import type { Store } from "../../../src/ports/store.js";
import type { TierListOptions, TiersOptions } from "../../../src/ports/tiers.js";
import { openScriptedModel, type Script } from "../../../src/testing/scripted-model.js";

/** Each four times as dear as the next. */
export const PRICES = {
  "gpt-4-large": { input_usd_per_mtok: 16, output_usd_per_mtok: 64 },
  "gpt-4-medium": { input_usd_per_mtok: 4, output_usd_per_mtok: 16 },
  "gpt-4-small": { input_usd_per_mtok: 1, output_usd_per_mtok: 4 },
} as const;

export const LIST: TierListOptions = {
  tiers: [
    { name: "large", model: "gpt-4-large" },
    { name: "medium", model: "gpt-4-medium", capabilities: ["tools", "structured_output"] },
    { name: "small", model: "gpt-4-small", capabilities: ["structured_output"] },
  ],
};

/** Tiers with one list, changed as a test wants it. */
export function tiersOf(list: Partial<TierListOptions> = {}, enabled = true): TiersOptions {
  return { lists: { auto: { ...LIST, ...list } }, enabled };
}

/** An answer of about 1,000 tokens, which is what all of them have. */
export const ANSWER = { kind: "text", text: "Yes.", usage: { prompt_tokens: 20, completion_tokens: 1000 } } as const;

/** A scripted provider, and both SDKs before it. */
export async function openTiers(script: Script = () => ANSWER, wire: GovernedFetchOptions = {}) {
  const provider = await openScriptedModel({ script, models: Object.keys(PRICES) });
  const fetch = governedFetch({ prices: PRICES, tiers: tiersOf(), ...wire });
  const openai = new OpenAI({ baseURL: provider.url, apiKey: "k", fetch, maxRetries: 0 });
  const anthropic = new Anthropic({ baseURL: provider.origin, apiKey: "k", fetch, maxRetries: 0 });
  return {
    provider,
    openai,
    anthropic,
    /** The models that were really called, in order. */
    called: () => provider.requests.map(({ body }) => (body as { model?: unknown }).model),
    ask: (more: Partial<OpenAI.ChatCompletionCreateParamsNonStreaming> = {}, headers: Record<string, string> = {}) =>
      openai.chat.completions.create(
        { model: "bursar/auto", messages: [{ role: "user", content: "Hello?" }], max_tokens: 1000, ...more },
        { headers },
      ),
    [Symbol.asyncDispose]: () => provider[Symbol.asyncDispose](),
  };
}

export interface Switched {
  readonly list: string;
  readonly from: {
    readonly tier: string;
    readonly model: string;
    readonly quote: Record<string, number> | null;
  } | null;
  readonly to: { readonly tier: string; readonly model: string; readonly quote: Record<string, number> };
  readonly reason: string;
  readonly left: Record<string, number>;
}

/** What a chain tells of switches. */
export async function switchesIn(store: Store, chain: string): Promise<readonly Switched[]> {
  const switches: Switched[] = [];
  for await (const line of store.chain(chain)) {
    const { action_type, data } = JSON.parse(line) as { readonly action_type: string; readonly data: Json };
    if (action_type === "TierSwitched") switches.push(data as unknown as Switched);
  }
  return switches;
}
