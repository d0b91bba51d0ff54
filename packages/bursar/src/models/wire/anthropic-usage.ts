import type { Json } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import type { Filling } from "../../runtime/filling.js";
import { someUses } from "./hosted-tools.js";
import { listOf, objectOf } from "./json-object.js";
import { isSaid } from "./request-fields.js";
import type { TokenCounts, ToolUses } from "./token-counts.js";

/**
 * Reads what a message says it used. Its `input_tokens` leave out what was read from and written to a cache; here input is the
 * whole. Null when a figure cannot be true: then nobody knows which of the others are.
 */
export function messagesUsage(usage: Json | undefined, seen: ToolUses = {}): TokenCounts | null {
  const said = objectOf(usage);
  const { input_tokens: fresh, output_tokens: output } = said;
  const cache_read = part(said.cache_read_input_tokens);
  const written = writtenIn(said.cache_creation_input_tokens, said.cache_creation);
  const reasoning = part(objectOf(said.output_tokens_details).thinking_tokens);
  if (!isCount(fresh) || !isCount(output) || cache_read === null || written === null || reasoning === null) return null;
  const { cache_write, cache_write_1h } = written;
  const input = fresh + cache_read + cache_write + cache_write_1h;
  // No request is empty, so a provider that counts nothing has not counted.
  if (input === 0 || reasoning > output || !Number.isSafeInteger(input + output)) return null;
  const counts: Filling<TokenCounts> = { input, output };
  if (cache_read > 0) counts.cache_read = cache_read;
  if (cache_write > 0) counts.cache_write = cache_write;
  if (cache_write_1h > 0) counts.cache_write_1h = cache_write_1h;
  if (reasoning > 0) counts.reasoning = reasoning;
  const tool_uses = someUses(usesSaid(said.server_tool_use) ?? seen);
  if (tool_uses !== undefined) counts.tool_uses = tool_uses;
  return counts;
}

/** How often tools were used that the provider runs, as its usage says; null where it says nothing. */
function usesSaid(value: Json | undefined): ToolUses | null {
  const { web_search_requests: web_search, web_fetch_requests: web_fetch } = objectOf(value);
  if (!isCount(web_search) && !isCount(web_fetch)) return null;
  return { web_search: isCount(web_search) ? web_search : 0, web_fetch: isCount(web_fetch) ? web_fetch : 0 };
}

/** The same by the blocks of an answer. */
export function usesInBlocks(content: Json | undefined): ToolUses {
  const uses = { web_search: 0, web_fetch: 0 };
  for (const block of listOf(content)) {
    const { type, name } = objectOf(block);
    if (type === "server_tool_use" && (name === "web_search" || name === "web_fetch")) uses[name]++;
  }
  return uses;
}

/**
 * What was written to caches, by lifetime. The end of a stream tells the sum alone, so that what the parts do not explain goes
 * to the longer lifetime if that was used at all.
 */
function writtenIn(
  sum: Json | undefined,
  parts: Json | undefined,
): { cache_write: number; cache_write_1h: number } | null {
  const whole = part(sum);
  const short = part(objectOf(parts).ephemeral_5m_input_tokens);
  const long = part(objectOf(parts).ephemeral_1h_input_tokens);
  if (whole === null || short === null || long === null) return null;
  const rest = Math.max(0, whole - short - long);
  return long > 0
    ? { cache_write: short, cache_write_1h: long + rest }
    : { cache_write: short + rest, cache_write_1h: 0 };
}

function part(value: Json | undefined): number | null {
  if (!isSaid(value)) return 0;
  return isCount(value) ? value : null;
}
