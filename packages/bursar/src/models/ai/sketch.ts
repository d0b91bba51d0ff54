import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { InputError, show } from "../../core/errors.js";
import type { OpenModel } from "../meter/open-model.js";
import { ANTHROPIC_MESSAGES } from "../wire/anthropic-messages.js";
import { type Deployments, NO_DEPLOYMENTS, type RunModel } from "../wire/deployments.js";
import { isObject, objectOf } from "../wire/json-object.js";
import { NONE_ALLOWED } from "../wire/known-members.js";
import { OPENAI_CHAT } from "../wire/openai-chat.js";
import { OPENAI_EMBEDDINGS } from "../wire/openai-embeddings.js";
import { OPENAI_RESPONSES } from "../wire/openai-responses.js";
import type { Protocol, WireRequest } from "../wire/protocol.js";
import { isHomeOf } from "../wire/provider-hosts.js";
import { checkHeaders } from "../wire/routing.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import { addressOf } from "./model-address.js";
import { bytesOf, type PromptPart, partsOf, writtenPart } from "./prompt-parts.js";
import { cacheLifetime, heldOptions, limitAmong, sentSettings, settingsFor } from "./provider-settings.js";
import type { SdkCallOptions, SdkEmbedOptions, SdkModel, SdkPart, SdkTool } from "./sdk-model.js";

/**
 * A call as a request on its provider's wire: not the one that will be sent, which only the SDK's own provider can write, but one
 * with everything that decides what it may cost. So the rules for what a request may cost stand in one place.
 */
export interface Sketch {
  readonly protocol: Protocol;
  readonly wire: WireRequest;
  /** Where it goes, as far as that shows. */
  readonly url: string | null;
  /** Set when it is left open which model is called. */
  readonly open?: OpenModel;
}

/** A sketch of a call that writes, and how the call is held to what its request is held to. */
export interface CallSketch extends Sketch {
  held(body: JsonObject): SdkCallOptions;
}

const LIMIT: Readonly<Record<string, string>> = {
  "anthropic-messages": "max_tokens",
  "openai-responses": "max_output_tokens",
  "openai-chat": "max_completion_tokens",
};

/** What a budget for thinking is where none is said. */
const LEAST_THINKING = 1024;

/** How much a word for thinking means, as a part of the longest answer; no model that thinks by a budget has a shorter one than this. */
const LONGEST_ANSWER = 32_000;
const THINKING: Readonly<Record<string, number>> = {
  minimal: 0.02,
  low: 0.1,
  medium: 0.3,
  high: 0.6,
  xhigh: 0.9,
  max: 0.95,
};

/** What a call is drawn with beside its own options. */
export interface SketchBasis {
  readonly stream: boolean;
  readonly output_tokens: number;
  /** What may be sent to an address beside what is known. */
  readonly allowedAt?: (url: string | null) => ReadonlySet<string>;
  readonly deployments?: Deployments;
}

/** What the SDK sends is not written here, so that a tool's uses cannot be held to what is left. */
const HOSTED =
  "have one that the provider runs, which is capped on the wire alone; give the SDK's provider fetch: governedFetch() in place of govern()";

const nothing = (): ReadonlySet<string> => NONE_ALLOWED;

/** Draws the request that a call will become. `output_tokens` is the most an answer may have where nobody says so. */
export function sketchCall(
  model: SdkModel,
  options: SdkCallOptions,
  { stream, output_tokens, allowedAt = nothing, deployments = NO_DEPLOYMENTS }: SketchBasis,
): CallSketch {
  const protocol = protocolOf(model);
  const url = addressOf(model);
  const compatible = isElsewhere(model, url, protocol);
  const allow = allowedAt(url);
  checkHeaders(
    Object.keys(options.headers ?? {}).map((name) => name.toLowerCase()),
    allow,
  );
  const settings = settingsFor(protocol, options.providerOptions);
  const thinking = thinkingIn(settings, options, protocol);
  const parts = [...partsOf(options.prompt)];
  const limit = LIMIT[protocol.name] ?? "max_tokens";
  const most = mostOutput(options, settings, thinking === null ? null : output_tokens);
  const run = deployments.modelFor(url, model.modelId);
  const body: Record<string, Json> = {
    ...sentSettings(settings, protocol, options.providerOptions),
    model: run?.model ?? model.modelId,
    stream,
    ...contentOf(parts, protocol),
    ...toolsOf(options, protocol),
    ...(protocol.home === "openai" && effortOf(settings, options)),
    ...markOf(options),
    // The SDK adds thinking to the limit of output; on the wire it is a part of it.
    ...(thinking !== null && { thinking: { type: "enabled", budget_tokens: thinking } }),
    ...(most !== null && { [limit]: most + (thinking ?? 0) }),
  };
  const { prompt, tools, toolChoice, responseFormat, providerOptions } = options;
  const kept = parts.reduce((sum, part) => sum + (part.kind === "kept" ? part.tokens : 0), 0);
  const bytes = kept + bytesOf({ prompt, tools, toolChoice, responseFormat, providerOptions });
  const wire = deployedOn(protocol.read(body, { bytes, compatible, allow }), run);
  if (wire.hosted !== undefined) throw new UnboundedError(`${wire.beyond}: tools`, HOSTED);
  return { protocol, wire, url, held: (held) => heldCall(options, held, { limit, thinking, model, settings }) };
}

/** The same for a call that makes vectors. */
export function sketchEmbedding(
  model: SdkModel,
  { values, providerOptions }: SdkEmbedOptions,
  { deployments = NO_DEPLOYMENTS, allowedAt = nothing }: Pick<SketchBasis, "deployments" | "allowedAt"> = {},
): Sketch {
  const url = addressOf(model);
  const run = deployments.modelFor(url, model.modelId);
  const protocol = OPENAI_EMBEDDINGS;
  const input = values.map((value) => (typeof value === "string" ? value : {}));
  const settings = sentSettings(settingsFor(protocol, providerOptions), protocol, providerOptions);
  const body = { ...settings, model: run?.model ?? model.modelId, input };
  const facts = { bytes: bytesOf({ values, providerOptions }), compatible: true, allow: allowedAt(url) };
  return { protocol, wire: deployedOn(protocol.read(body, facts), run), url };
}

function deployedOn(wire: WireRequest, run: RunModel | null): WireRequest {
  return run === null || run.deployment === null ? wire : { ...wire, deployment: run.deployment };
}

/** Which protocol a model is spoken to in, as far as its names tell; what is not known speaks as most others do. */
function protocolOf({ provider, modelId }: SdkModel): Protocol {
  const name = provider.toLowerCase();
  if (name.includes("anthropic") || /claude/i.test(modelId)) return ANTHROPIC_MESSAGES;
  return name.endsWith(".responses") ? OPENAI_RESPONSES : OPENAI_CHAT;
}

/** Whether a call goes to a server that only speaks like the protocol's own; by name, where the address does not show. */
function isElsewhere({ provider }: SdkModel, url: string | null, { home }: Protocol): boolean {
  return url === null ? !provider.startsWith(`${home}.`) : !isHomeOf(home, new URL(url).hostname);
}

/** The most output that a call asks for; null when it says nothing and nothing has to be said. */
function mostOutput(options: SdkCallOptions, settings: JsonObject, otherwise: number | null): number | null {
  const { maxOutputTokens } = options;
  if (maxOutputTokens !== undefined && !(isCount(maxOutputTokens) && maxOutputTokens > 0)) {
    throw new InputError("maxOutputTokens", `is ${show(maxOutputTokens)}; allowed: a whole number from 1`);
  }
  const named = limitAmong(settings);
  if (named === null) return maxOutputTokens ?? otherwise;
  return Math.max(named, maxOutputTokens ?? 0);
}

/** The budget for thinking that comes on top of the output; null when there is none. */
function thinkingIn(settings: JsonObject, { reasoning }: SdkCallOptions, { home }: Protocol): number | null {
  if (home !== "anthropic") return null;
  const { thinking } = settings;
  if (isObject(thinking)) {
    if (thinking.type !== "enabled") return null;
    const { budget_tokens = LEAST_THINKING } = thinking;
    if (isCount(budget_tokens)) return Math.max(LEAST_THINKING, budget_tokens);
    throw new InputError("thinking.budgetTokens", `is ${show(budget_tokens)}; allowed: a whole number of tokens`);
  }
  const part = THINKING[reasoning ?? ""];
  // With an effort of its own, a model thinks within its output.
  if (part === undefined || settings.effort !== undefined) return null;
  return Math.max(LEAST_THINKING, Math.round(LONGEST_ANSWER * part));
}

function contentOf(parts: readonly PromptPart[], { name }: Protocol): JsonObject {
  const content = parts.map((part) => writtenPart(part, name));
  if (name === "openai-responses") return { input: [{ type: "message", role: "user", content }] };
  return { messages: [{ role: "user", content }] };
}

function toolsOf({ tools = [], responseFormat }: SdkCallOptions, { name }: Protocol): JsonObject {
  // Where a model cannot be told to answer in JSON, the SDK gives it a tool to do so, or says it in words.
  const { type: format } = (responseFormat ?? {}) as { readonly type?: unknown };
  const all: readonly SdkTool[] = format === "json" ? [...tools, { type: "function" }] : tools;
  if (all.length === 0) return {};
  const own = name === "anthropic-messages" ? "custom" : "function";
  return {
    tools: all.map(({ type, id = type, args }) => {
      if (type === "function") return { type: own };
      // A tool that a provider brings is named after it: `anthropic.bash_20250124`.
      const settings = settingsFor(ANTHROPIC_MESSAGES, { tool: args });
      return { ...settings, type: id.slice(id.indexOf(".") + 1) };
    }),
  };
}

function effortOf(settings: JsonObject, { reasoning }: SdkCallOptions): JsonObject {
  const { reasoning_effort: effort = reasoning ?? null, reasoning_mode: mode = null } = settings;
  if (effort === null && mode === null) return {};
  const said = { ...(effort !== null && { effort }), ...(mode !== null && { mode }) };
  return { reasoning_effort: effort, reasoning: { ...objectOf(settings.reasoning), ...said } };
}

/** Whether anything in the call is to be written to a cache, and for how long. */
function markOf(options: SdkCallOptions): JsonObject {
  let ttl: "5m" | "1h" | null = null;
  for (const { providerOptions } of placesIn(options)) {
    const lifetime = cacheLifetime(providerOptions);
    if (lifetime !== null && ttl !== "1h") ttl = lifetime;
  }
  return ttl === null ? {} : { cache_control: { type: "ephemeral", ttl } };
}

/** Everything in a call that can be told something for a provider. */
function* placesIn({
  prompt,
  tools = [],
  providerOptions,
}: SdkCallOptions): Generator<Pick<SdkPart, "providerOptions">> {
  yield { providerOptions };
  yield* tools;
  for (const message of prompt) {
    yield message;
    if (typeof message.content === "string") continue;
    for (const part of message.content) {
      yield part;
      const { type, value, providerOptions: own } = (part.output ?? {}) as Partial<SdkPart>;
      yield { providerOptions: own };
      if (type === "content" && Array.isArray(value)) yield* value as readonly SdkPart[];
    }
  }
}

/** The call, held to what its request was held to. */
function heldCall(
  options: SdkCallOptions,
  body: JsonObject,
  about: {
    readonly limit: string;
    readonly thinking: number | null;
    readonly model: SdkModel;
    readonly settings: JsonObject;
  },
): SdkCallOptions {
  // Where nobody has said anything, servers that only speak like OpenAI's are told in the older spelling.
  const whole = Number(body[about.limit] ?? body.max_tokens);
  const { budget_tokens } = objectOf(body.thinking);
  const thinking = about.thinking === null ? null : Number(budget_tokens ?? about.thinking);
  const output_tokens = Math.max(1, whole - (thinking ?? 0));
  const held = heldOptions(options.providerOptions, { output_tokens, thinking });
  const added: Record<string, Readonly<Record<string, unknown>>> = {};
  if (thinking !== null && about.settings.thinking === undefined) {
    // A word for thinking means a part of a limit that only the provider knows; a figure means the same to everybody.
    added.anthropic = { ...held?.anthropic, thinking: { type: "enabled", budgetTokens: thinking } };
  }
  if (body.service_tier !== undefined && about.settings.service_tier === undefined && knowsTiers(about.model)) {
    added.openai = { ...held?.openai, serviceTier: body.service_tier };
  }
  const providerOptions = Object.keys(added).length === 0 ? held : { ...held, ...added };
  return { ...options, maxOutputTokens: output_tokens, ...(providerOptions !== undefined && { providerOptions }) };
}

/** Before version 3, providers of OpenAI's models did not know the name of the ordinary tier. */
function knowsTiers({ provider, specificationVersion }: SdkModel): boolean {
  return provider.startsWith("openai.") && specificationVersion !== "v2";
}
