import type { Json } from "../../core/chain/canonical.js";

/**
 * What a scripted model says it has used; what is true in a script is what the script says. Each protocol writes it in its own
 * way: at Anthropic, `input_tokens` leaves the cached ones out.
 */
export interface ScriptedUsage {
  /** All input, cached or not. */
  readonly prompt_tokens: number;
  /** All output, thinking included. Held to what the request allows, unless the answer ignores that. */
  readonly completion_tokens: number;
  /** Input that was read from a cache. */
  readonly cached_tokens?: number;
  /** Input that was written into a cache, for five minutes at Anthropic. */
  readonly cache_write_tokens?: number;
  /** Input that was written into a cache for an hour; OpenAI does not tell the two apart. */
  readonly cache_write_1h_tokens?: number;
  /** Output that is thinking. */
  readonly reasoning_tokens?: number;
}

/** Usage as it stands, for what no provider should ever say. */
export interface ScriptedRawUsage {
  readonly raw: Json;
}

/** The names a script may use in a usage. */
export const USAGE_KEYS: readonly string[] = [
  "prompt_tokens",
  "completion_tokens",
  "cached_tokens",
  "cache_write_tokens",
  "cache_write_1h_tokens",
  "reasoning_tokens",
];

/** Usage under way to the wire. */
export type Usage = Counts | ScriptedRawUsage | null;

/** Input and output are whole; everything else is a part of one of them. */
interface Counts {
  readonly input: number;
  readonly cached: number;
  readonly cache_write: number;
  readonly cache_write_1h: number;
  readonly output: number;
  readonly reasoning: number;
}

/** What is said where a script says nothing. */
export interface Counted {
  readonly input: number;
  readonly output: number;
  readonly reasoning: number;
}

/** The usage of an answer that may have `most` tokens of output. */
export function usageFor(
  said: ScriptedUsage | ScriptedRawUsage | null | undefined,
  counted: Counted,
  most: number,
): Usage {
  if (said === null) return null;
  if (said === undefined) return { ...counted, cached: 0, cache_write: 0, cache_write_1h: 0 };
  if ("raw" in said) return said;
  const output = Math.min(said.completion_tokens, most);
  return {
    input: said.prompt_tokens,
    output,
    cached: said.cached_tokens ?? 0,
    cache_write: said.cache_write_tokens ?? 0,
    cache_write_1h: said.cache_write_1h_tokens ?? 0,
    // A script that says nothing of thinking, but shows some, has thought as much as it shows.
    reasoning: Math.min(said.reasoning_tokens ?? counted.reasoning, output),
  };
}

/** Whether a script says that more was used than the request allows, so that the answer ends for that reason. */
export function isBeyond(said: ScriptedUsage | ScriptedRawUsage | null | undefined, most: number): boolean {
  return said !== null && said !== undefined && !("raw" in said) && said.completion_tokens > most;
}
