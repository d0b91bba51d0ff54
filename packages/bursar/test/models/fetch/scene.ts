import { subscribe, unsubscribe } from "node:diagnostics_channel";
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import type { BudgetState } from "../../../src/ambient/open-budget.js";
import { withBudget } from "../../../src/ambient/with-budget.js";
import type { BudgetLimits } from "../../../src/core/input.js";
import { type GovernedFetchOptions, governedFetch } from "../../../src/models/fetch/governed-fetch.js";
import { BudgetExceededError } from "../../../src/models/meter/budget-exceeded-error.js";
import { CALLS, type CallEnded, type CallRecord } from "../../../src/models/meter/call-record.js";
import type { RefusalReport } from "../../../src/models/meter/refusal.js";
import {
  openScriptedModel,
  type Script,
  type ScriptedModel,
  type ScriptedModelOptions,
} from "../../../src/testing/scripted-model.js";

/** A dollar for a million tokens of input, ten for output. */
export const PRICE = { input_usd_per_mtok: 1, output_usd_per_mtok: 10 } as const;

/** The same with caches, which one of the models has. */
const CACHED_PRICE = {
  ...PRICE,
  cache_read_usd_per_mtok: 0.1,
  cache_write_usd_per_mtok: 1.25,
  cache_write_1h_usd_per_mtok: 2,
} as const;

/** None of the names is one that thinks in secret, apart from the first. */
export const PRICES = { scripted: PRICE, "gpt-4-scripted": PRICE, "claude-3-scripted": PRICE, cached: CACHED_PRICE };

/** Sent again at once, so that no test waits for it. */
export const AT_ONCE: Readonly<Record<string, string>> = { "retry-after-ms": "1" };

export interface Scene extends AsyncDisposable {
  readonly model: ScriptedModel;
  readonly fetch: typeof fetch;
  readonly openai: OpenAI;
  readonly anthropic: Anthropic;
}

export interface SceneOptions {
  readonly wire?: GovernedFetchOptions;
  readonly model?: Partial<ScriptedModelOptions>;
  readonly maxRetries?: number;
}

/** A scripted provider, and both SDKs that talk to it over a governed wire. */
export async function openScene(script: Script, options: SceneOptions = {}): Promise<Scene> {
  const { wire = {}, maxRetries = 2 } = options;
  const model = await openScriptedModel({ script, models: Object.keys(PRICES), ...options.model });
  const governed = governedFetch({ prices: PRICES, ...wire });
  return {
    model,
    fetch: governed,
    openai: new OpenAI({ baseURL: model.url, apiKey: "k", fetch: governed, maxRetries }),
    anthropic: new Anthropic({ baseURL: model.origin, apiKey: "k", fetch: governed, maxRetries }),
    [Symbol.asyncDispose]: () => model[Symbol.asyncDispose](),
  };
}

export const HELLO = [{ role: "user" as const, content: "Hello?" }];

/** The same question in every protocol. */
export const ASK = {
  chat: (at: Scene, model = "gpt-4-scripted") =>
    at.openai.chat.completions.create({ model, messages: HELLO, max_tokens: 100 }),
  responses: (at: Scene, model = "gpt-4-scripted") =>
    at.openai.responses.create({ model, input: "Hello?", max_output_tokens: 100 }),
  embeddings: (at: Scene, model = "gpt-4-scripted") => at.openai.embeddings.create({ model, input: "Hello?" }),
  messages: (at: Scene, model = "claude-3-scripted") =>
    at.anthropic.messages.create({ model, messages: HELLO, max_tokens: 100 }),
} as const;

export type Asked = keyof typeof ASK;

/** The same as streams, read to their ends. */
export const READ = {
  chat: async (at: Scene, model = "gpt-4-scripted", signal?: AbortSignal) => {
    const body = { model, messages: HELLO, max_tokens: 100, stream: true } as const;
    let text = "";
    for await (const chunk of await at.openai.chat.completions.create(body, { signal })) {
      text += chunk.choices[0]?.delta.content ?? "";
    }
    return text;
  },
  responses: async (at: Scene, model = "gpt-4-scripted", signal?: AbortSignal) => {
    const body = { model, input: "Hello?", max_output_tokens: 100, stream: true } as const;
    let text = "";
    for await (const event of await at.openai.responses.create(body, { signal })) {
      if (event.type === "response.output_text.delta") text += event.delta;
    }
    return text;
  },
  messages: async (at: Scene, model = "claude-3-scripted", signal?: AbortSignal) => {
    const body = { model, messages: HELLO, max_tokens: 100, stream: true } as const;
    let text = "";
    for await (const event of await at.anthropic.messages.create(body, { signal })) {
      if (event.type === "content_block_delta" && event.delta.type === "text_delta") text += event.delta.text;
    }
    return text;
  },
} as const;

export type Streamed = keyof typeof READ;

export const STREAMED: readonly Streamed[] = ["chat", "responses", "messages"];

/** What was refused, and why; it throws when nothing was. */
export async function refusalOf(call: Promise<unknown>): Promise<RefusalReport> {
  const error = await call.then(
    () => new Error("nothing was refused"),
    (each: unknown) => each,
  );
  const refused = BudgetExceededError.from(error);
  if (refused === null) throw error;
  return refused.report;
}

/** What went wrong, whatever it was. */
export function errorOf(call: Promise<unknown>): Promise<Error> {
  return call.then(
    () => new Error("nothing went wrong"),
    (each: unknown) => each as Error,
  );
}

/** Does something inside a budget, and tells how the budget stands afterwards. */
export async function spent(limits: BudgetLimits, work: () => Promise<unknown>): Promise<BudgetState> {
  return withBudget(limits, async (budget) => {
    await work();
    return budget.state();
  });
}

/** Everything that is told of calls while something is done. */
export async function toldWhile(work: () => Promise<unknown>): Promise<readonly CallEnded[]> {
  const ended: CallEnded[] = [];
  const listen = (record: unknown) => {
    const told = record as CallRecord;
    if (told.kind === "ended") ended.push(told);
  };
  subscribe(CALLS, listen);
  try {
    await work();
  } finally {
    unsubscribe(CALLS, listen);
  }
  return ended;
}

/** Waits until something is so; what never is makes the test fail by its time limit. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 2));
}
