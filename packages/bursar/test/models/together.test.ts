import { createOpenAI } from "@ai-sdk/openai";
import Anthropic from "@anthropic-ai/sdk";
import { ChatAnthropic } from "@langchain/anthropic";
import { ChatOpenAI } from "@langchain/openai";
import { Agent, OpenAIProvider, Runner, setTracingDisabled } from "@openai/agents";
import { generateText, streamText } from "ai";
import OpenAI from "openai";
import { expect, test } from "vitest";
import { withBudget } from "../../src/ambient/with-budget.js";
import { verifyChain } from "../../src/core/chain/verify.js";
import { govern } from "../../src/models/ai/govern.js";
import { budget as anthropicBudget } from "../../src/models/anthropic/budget.js";
import { governedFetch } from "../../src/models/fetch/governed-fetch.js";
import { budget as langchainBudget } from "../../src/models/langchain/budget.js";
import { BudgetExceededError } from "../../src/models/meter/budget-exceeded-error.js";
import { govern as governAgents } from "../../src/models/openai-agents/govern.js";
import { sha256Hex } from "../../src/runtime/crypto.js";
import type { ScriptedRequest } from "../../src/testing/scripted/request.js";
import { openScriptedModel, type ScriptedModel } from "../../src/testing/scripted-model.js";
import { AT_ONCE, HELLO, PRICES } from "./fetch/scene.js";

// Traces go to OpenAI's own server.
setTracingDisabled(true);

const [GPT, CLAUDE] = ["gpt-4-scripted", "claude-3-scripted"];
const MOST = 60;
const INPUT = 30;

/** What the provider has given, by its own books. */
class Log {
  tokens = 0;
  output = 0;
  requests = 0;
  /** Every so many requests it has no time. */
  readonly refuses: number;

  constructor(refuses: number) {
    this.refuses = refuses;
  }

  answer({ max_tokens, protocol }: ScriptedRequest) {
    this.requests++;
    // The client below OpenAI's agents sends again by itself, which nobody above it sees; it speaks in responses.
    if (protocol !== "openai-responses" && this.requests % this.refuses === 0)
      return { kind: "status", status: 429, headers: AT_ONCE } as const;
    const completion_tokens = Math.min(MOST, max_tokens ?? Number.POSITIVE_INFINITY);
    this.tokens += INPUT + completion_tokens;
    this.output += completion_tokens;
    return { kind: "text", text: "Well, well.", usage: { prompt_tokens: INPUT, completion_tokens } } as const;
  }

  get cost_usd(): number {
    return ((this.tokens - this.output) * 1 + this.output * 10) / 1_000_000;
  }
}

/** One call through each of the adapters, each with the real package. */
function adapters({ url, origin }: ScriptedModel): Readonly<Record<string, () => Promise<unknown>>> {
  const options = { prices: PRICES };
  const openai = new OpenAI({ baseURL: url, apiKey: "k", fetch: governedFetch(options) });
  const anthropic = new Anthropic({ baseURL: origin, apiKey: "k", middleware: [anthropicBudget(options)] });
  const plain = createOpenAI({ baseURL: url, apiKey: "k" });
  const wired = createOpenAI({ baseURL: url, apiKey: "k", fetch: governedFetch(options) });
  const runner = new Runner({
    modelProvider: governAgents(new OpenAIProvider({ apiKey: "k", baseURL: url }), options),
  });
  const agent = new Agent({ name: "A", model: GPT, modelSettings: { maxTokens: MOST } });
  const { configuration, callbacks } = langchainBudget(options).openai;
  const chat = new ChatOpenAI({
    model: GPT,
    apiKey: "k",
    maxTokens: MOST,
    callbacks,
    configuration: { baseURL: url, ...configuration },
  });
  const claude = new ChatAnthropic({
    model: CLAUDE,
    apiKey: "k",
    maxTokens: MOST,
    anthropicApiUrl: origin,
    ...langchainBudget(options).anthropic,
  });
  const asked = { model: GPT, messages: HELLO, max_tokens: MOST };
  const prompt = { prompt: "Hello?", maxOutputTokens: MOST };
  return {
    "the wire": () => openai.chat.completions.create(asked),
    "the wire, streamed": async () => {
      for await (const _ of await openai.chat.completions.create({ ...asked, stream: true }));
    },
    "Anthropic's middleware": () => anthropic.messages.create({ ...asked, model: CLAUDE }),
    "Anthropic's middleware, streamed": () => anthropic.messages.stream({ ...asked, model: CLAUDE }).finalMessage(),
    "the AI SDK": () => generateText({ model: govern(plain.chat(GPT), options), ...prompt }),
    "the AI SDK over the wire, streamed": async () => {
      let failure: unknown = null;
      const { text } = streamText({
        model: govern(wired.responses(GPT), options),
        ...prompt,
        onError: ({ error }) => {
          failure = error;
        },
      });
      await text.then(null, (error: unknown) => {
        throw failure ?? error;
      });
    },
    "OpenAI's agents": () => runner.run(agent, "Hello?"),
    LangChain: () => chat.invoke("Hello?"),
    "LangChain with Anthropic": () => claude.invoke("Hello?"),
  };
}

test.each([
  ["tokens", { llm_tokens: 6000 }],
  ["money", { cost_usd: 0.04 }],
  ["steps", { steps: 70 }],
] as const)("200 calls at once through five adapters on one budget of %s", async (_, limits) => {
  const log = new Log(9);
  await using provider = await openScriptedModel({ script: (request) => log.answer(request), models: [GPT, CLAUDE] });
  const ways = Object.values(adapters(provider));
  const lines: string[] = [];
  const { state, outcomes } = await withBudget(limits, async (budget) => {
    const outcomes = await Promise.allSettled(Array.from({ length: 200 }, (_, index) => ways[index % ways.length]?.()));
    for await (const line of budget.chain()) lines.push(line);
    return { outcomes, state: await budget.state() };
  });
  // Nothing was charged twice and nothing was forgotten.
  expect(state.used).toMatchObject({
    steps: log.requests,
    llm_tokens: log.tokens,
    llm_output_tokens: log.output,
    cost_usd: log.cost_usd,
  });
  expect(state.held).toEqual({});
  for (const [id, most] of Object.entries(limits)) expect(state.used[id]).toBeLessThanOrEqual(most);
  // Whoever got no answer was refused, and was told so.
  const failures = outcomes.flatMap((outcome) => (outcome.status === "rejected" ? [outcome.reason] : []));
  expect(failures.length).toBeGreaterThan(50);
  for (const failure of failures) expect(BudgetExceededError.from(failure), String(failure)).not.toBeNull();
  expect(await verifyChain(lines, { hash: sha256Hex })).toMatchObject({ ok: true });
});

test("with enough for all, each of the adapters is charged what the provider gave", async () => {
  const log = new Log(Number.POSITIVE_INFINITY);
  await using provider = await openScriptedModel({ script: (request) => log.answer(request), models: [GPT, CLAUDE] });
  for (const [name, call] of Object.entries(adapters(provider))) {
    const used = await withBudget({ cost_usd: 1 }, async (budget) => {
      await Promise.all([call(), call(), call()]);
      return (await budget.state()).used;
    });
    const each = { steps: 3, llm_input_tokens: 3 * INPUT, llm_output_tokens: 3 * MOST };
    expect(used, name).toMatchObject({ ...each, cost_usd: (3 * INPUT + 3 * MOST * 10) / 1_000_000 });
  }
  expect(log.requests).toBe(27);
});
