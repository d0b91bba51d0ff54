import type { JsonObject } from "../../../src/core/chain/canonical.js";
import type { Adapter } from "../../../src/prompt/adapter.js";
import type { Budget } from "../../../src/prompt/budget.js";
import { nodeOf } from "../../../src/prompt/budget-node.js";
import { anthropicAdapter } from "../../../src/prompt/providers/anthropic.js";
import type { ModelOptions } from "../../../src/prompt/providers/model-options.js";
import { openaiAdapter } from "../../../src/prompt/providers/openai.js";
import type { AdapterOptions } from "../../../src/prompt/settings.js";
import type { TokenUsage } from "../../../src/prompt/tokens.js";
import type { ScriptedText, ScriptedToolCall } from "../../../src/testing/scripted/answer.js";
import { openScriptedModel, type Script, type ScriptedModel } from "../../../src/testing/scripted-model.js";

/** A protocol, with an adapter that speaks it. */
export interface TestedWire {
  readonly name: string;
  readonly path: string;
  /** How it spells the limit of output. */
  readonly limit: string;
  adapter(options: ModelOptions & AdapterOptions): Adapter;
}

export const CHAT: TestedWire = {
  name: "Chat Completions",
  path: "/v1/chat/completions",
  limit: "max_tokens",
  adapter: openaiAdapter,
};

export const RESPONSES: TestedWire = {
  name: "Responses",
  path: "/v1/responses",
  limit: "max_output_tokens",
  adapter: (options) => openaiAdapter({ ...options, api: "responses" }),
};

export const MESSAGES: TestedWire = {
  name: "Messages",
  path: "/v1/messages",
  limit: "max_tokens",
  adapter: anthropicAdapter,
};

/** The same with answers that come piece by piece. */
export function streamed(wire: TestedWire): TestedWire {
  return {
    ...wire,
    name: `${wire.name}, streamed`,
    adapter: (options) => wire.adapter({ ...options, stream: true }),
  };
}

const WHOLE: readonly TestedWire[] = [CHAT, RESPONSES, MESSAGES];

export const WIRES: readonly TestedWire[] = [...WHOLE, ...WHOLE.map(streamed)];

/** A server with a script, and an adapter that speaks to it. */
export interface Scene extends AsyncDisposable {
  readonly server: ScriptedModel;
  readonly adapter: Adapter;
  /** The bodies that have reached the server. */
  readonly bodies: readonly JsonObject[];
}

export async function scene(
  wire: TestedWire,
  script: Script,
  options: Partial<ModelOptions> & AdapterOptions = {},
): Promise<Scene> {
  const server = await openScriptedModel({ script });
  return {
    server,
    adapter: wire.adapter({ model: "scripted", url: server.url, apiKey: "sk-test-secret", ...options }),
    get bodies() {
      return server.requests.map(({ body }) => body);
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** An answer that says what it used. */
export function says(text: string, input: number, output: number): ScriptedText {
  return { kind: "text", text, usage: { prompt_tokens: input, completion_tokens: output } };
}

/** An answer that calls tools, each by its name. */
export function calls(names: string | readonly string[], input: number, output: number): ScriptedText {
  const tool_calls = [names].flat().map((name): ScriptedToolCall => ({ name, arguments: { about: name } }));
  return { ...says("", input, output), tool_calls };
}

/** What was used under a budget. */
export function used(budget: Budget): TokenUsage {
  return nodeOf(budget).usage();
}
