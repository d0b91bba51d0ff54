import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { InputError, show } from "../../core/errors.js";
import { isObject, objectOf } from "../wire/json-object.js";
import { isReadMember } from "../wire/known-members.js";
import type { Protocol } from "../wire/protocol.js";
import type { SdkProviderOptions } from "./sdk-model.js";

/** What is said to one provider says nothing to another. */
const OTHERS: Readonly<Record<Protocol["home"], readonly string[]>> = {
  openai: ["anthropic"],
  anthropic: ["openai", "azure", "google", "xai"],
};

/** Where the limit of output stands if it is said to a provider by name: it wins over the call's own. */
const LIMITS: ReadonlySet<string> = new Set(["max_tokens", "max_completion_tokens", "max_output_tokens"]);

/** What the SDK writes itself, so that it cannot come from here. */
const OF_THE_SDK: ReadonlySet<string> = new Set(["messages", "input", "tools", "system", "stream", "stream_options"]);

/**
 * Providers of the SDK that check their settings, and send nothing of what they do not know. Those of Bedrock, Perplexity and DeepSeek
 * write all settings into the request.
 */
const CHECKING: ReadonlySet<string> = new Set([
  "openai",
  "azure",
  "anthropic",
  "google",
  "vertex",
  "google_vertex",
  "googleVertex",
  "xai",
  "groq",
  "mistral",
  "cohere",
]);

/** The SDK's own names for what is called something else on the wire, or is not sent. */
const NOT_SENT: ReadonlySet<string> = new Set([
  "strict_json_schema",
  "text_verbosity",
  "reasoning_summary",
  "system_message_mode",
  "force_reasoning",
  "send_reasoning",
  "structured_output_mode",
  "disable_parallel_tool_use",
  "tool_streaming",
  "task_budget",
]);

/** The settings of a call that may stand in its body. */
export function sentSettings(
  settings: JsonObject,
  protocol: Protocol,
  options: SdkProviderOptions | undefined,
): JsonObject {
  const isChecked = Object.keys(options ?? {}).every((name) => CHECKING.has(name) || name === "bursar");
  return Object.fromEntries(
    Object.entries(settings).filter(([name]) => {
      if (NOT_SENT.has(name) || LIMITS.has(name)) return false;
      return !isChecked || isReadMember(protocol.name, name);
    }),
  );
}

/** Names of settings are written in camel case here, and in snake case on the wire. */
const MOST_LEVELS = 16;

/** Settings for the provider of a call, as they would stand on the wire. */
export function settingsFor(protocol: Protocol, options: SdkProviderOptions | undefined): JsonObject {
  const settings: Record<string, Json> = {};
  for (const [name, own] of Object.entries(options ?? {})) {
    if (OTHERS[protocol.home].includes(name)) continue;
    for (const [key, value] of Object.entries(objectOf(snaked(own, MOST_LEVELS)))) {
      if (OF_THE_SDK.has(key) || value === null) continue;
      if (key === "model")
        throw new InputError(`providerOptions.${name}.model`, "names another model; govern that one");
      settings[key] = value;
    }
  }
  // What Bedrock passes on to a model as it stands, and its own word for thinking.
  const { additional_model_request_fields: passed, reasoning_config, ...rest } = settings;
  return { ...rest, ...objectOf(passed), ...(reasoning_config !== undefined && { thinking: reasoning_config }) };
}

/** The highest limit of output among settings; null where there is none. */
export function limitAmong(settings: JsonObject): number | null {
  let highest: number | null = null;
  for (const [key, value] of Object.entries(settings)) {
    if (!LIMITS.has(key)) continue;
    if (!isCount(value))
      throw new InputError(`providerOptions: ${key}`, `is ${show(value)}; allowed: a number of tokens`);
    highest = Math.max(highest ?? 0, value);
  }
  return highest;
}

/** The same options with every limit of output at most so high, and the budget for thinking as given. */
export function heldOptions(
  options: SdkProviderOptions | undefined,
  to: { readonly output_tokens: number; readonly thinking: number | null },
): SdkProviderOptions | undefined {
  if (options === undefined) return undefined;
  const entries = Object.entries(options).map(([name, own]) => [name, heldSettings(own, to)] as const);
  return Object.fromEntries(entries);
}

function heldSettings<Value>(
  own: Value,
  to: { readonly output_tokens: number; readonly thinking: number | null },
): Value {
  if (typeof own !== "object" || own === null || Array.isArray(own)) return own;
  const held = Object.entries(own).map(([key, value]) => {
    const name = snakeCase(key);
    if (LIMITS.has(name) && typeof value === "number") return [key, Math.min(value, to.output_tokens)];
    if (name === "additional_model_request_fields") return [key, heldSettings(value, to)];
    if (name !== "thinking" && name !== "reasoning_config") return [key, value];
    return [key, to.thinking === null ? value : heldThinking(value, to.thinking)];
  });
  return Object.fromEntries(held) as Value;
}

function heldThinking(value: unknown, to: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, each]) => [key, snakeCase(key) === "budget_tokens" ? to : each]);
  return Object.fromEntries(entries);
}

function snaked(value: unknown, levels: number): Json {
  if (levels === 0) throw new InputError("providerOptions", "are nested too deeply; make them flatter");
  if (Array.isArray(value)) return value.map((each) => snaked(each, levels - 1));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [snakeCase(key), snaked(each, levels - 1)]));
  }
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : null;
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What a message, a part or a tool says about writing to a cache: its lifetime, or null when it says nothing. */
export function cacheLifetime(options: SdkProviderOptions | undefined): "5m" | "1h" | null {
  let lifetime: "5m" | "1h" | null = null;
  for (const own of Object.values(options ?? {})) {
    const { cache_control, cache_point, prompt_cache_breakpoint } = objectOf(snaked(own, MOST_LEVELS));
    const mark = cache_control ?? cache_point ?? prompt_cache_breakpoint ?? null;
    if (mark === null || mark === false) continue;
    const ttl = isObject(mark) ? (mark.ttl ?? "5m") : "5m";
    if (ttl !== "5m") return "1h";
    lifetime = "5m";
  }
  return lifetime;
}
