import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { messagesUsage } from "../wire/anthropic-usage.js";
import { isObject, objectOf } from "../wire/json-object.js";
import { chatUsage, responsesUsage } from "../wire/openai-usage.js";
import type { WireRequest } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";

/** What an answer says of itself: an answer as a whole, or the part that ends a stream. */
interface Reporting {
  readonly usage?: unknown;
  readonly providerMetadata?: unknown;
}

/**
 * Reads what an answer says it used. The SDK keeps the provider's own figures beside its reading of them; they tell more, such as
 * how long something is kept in a cache, so they come first. Null when nothing is said that can be counted.
 */
export function reportedUsage({ usage, providerMetadata }: Reporting, wire: WireRequest): TokenCounts | null {
  const said = objectOf(usage as Json);
  const read = isObject(said.inputTokens) ? nestedUsage(said, wire) : flatUsage(said, providerMetadata, wire);
  const own = ownUsage(said, providerMetadata, wire);
  if (own === null || read === null) return own ?? read;
  // Whichever of the two is more: neither is to be read in anybody's favour.
  return own.input >= read.input && own.output >= read.output ? own : read;
}

/** The provider's own figures, as they came. */
function ownUsage(said: JsonObject, metadata: unknown, { protocol }: WireRequest): TokenCounts | null {
  switch (protocol) {
    case "anthropic-messages":
      // Before version 3 they were kept beside the usage.
      return messagesUsage(said.raw ?? objectOf(objectOf(metadata as Json).anthropic).usage);
    case "openai-responses":
      return responsesUsage(said.raw);
    default:
      return chatUsage(said.raw);
  }
}

/** Versions 3 and 4: whole and parts, for input and for output. */
function nestedUsage(said: JsonObject, wire: WireRequest): TokenCounts | null {
  const input = objectOf(said.inputTokens);
  const output = objectOf(said.outputTokens);
  const cached = { cache_read: part(input.cacheRead), written: part(input.cacheWrite) };
  return counted(input.total, output.total, { ...cached, reasoning: part(output.reasoning) }, wire);
}

/** Version 2: plain figures, of which Anthropic's leave out what was cached. */
function flatUsage(said: JsonObject, metadata: unknown, wire: WireRequest): TokenCounts | null {
  const cache_read = part(said.cachedInputTokens);
  const { cacheCreationInputTokens } = objectOf(objectOf(metadata as Json).anthropic);
  const written = part(cacheCreationInputTokens);
  const apart = wire.protocol === "anthropic-messages" ? (cache_read ?? 0) + (written ?? 0) : 0;
  const input = isCount(said.inputTokens) ? said.inputTokens + apart : undefined;
  return counted(input, said.outputTokens, { cache_read, written, reasoning: part(said.reasoningTokens) }, wire);
}

interface Parts {
  readonly cache_read: number | null;
  readonly written: number | null;
  readonly reasoning: number | null;
}

/** Null when a figure cannot be true: then nobody knows which of the others are. */
function counted(input: unknown, output: unknown, parts: Parts, wire: WireRequest): TokenCounts | null {
  const { cache_read, written, reasoning } = parts;
  if (!isCount(input) || !isCount(output) || input === 0) return null;
  if (cache_read === null || written === null || reasoning === null) return null;
  if (cache_read + written > input || !Number.isSafeInteger(input + output)) return null;
  return {
    input,
    // Some providers leave what a model has thought out of the output; it is paid for as output.
    output: reasoning > output ? output + reasoning : output,
    ...(cache_read > 0 && { cache_read }),
    // The SDK does not tell for how long; what was asked for is at least what was done.
    ...(written > 0 && (wire.caches === "1h" ? { cache_write_1h: written } : { cache_write: written })),
    ...(reasoning > 0 && { reasoning }),
  };
}

/** Null for a figure that cannot be one; nothing said is 0. */
function part(value: Json | undefined): number | null {
  if (value === undefined || value === null) return 0;
  return isCount(value) ? value : null;
}
