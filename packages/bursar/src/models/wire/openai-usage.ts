import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import type { Filling } from "../../runtime/filling.js";
import { someUses } from "./hosted-tools.js";
import { listOf, objectOf } from "./json-object.js";
import { isSaid } from "./request-fields.js";
import type { TokenCounts, ToolUses } from "./token-counts.js";

/**
 * Reads what an answer of Chat Completions says it used. Null when a figure cannot be true: then nobody knows which of the
 * others are.
 */
export function chatUsage(usage: Json | undefined): TokenCounts | null {
  const said = objectOf(usage);
  return counted(
    { whole: said.prompt_tokens, details: objectOf(said.prompt_tokens_details) },
    { whole: said.completion_tokens, details: objectOf(said.completion_tokens_details) },
    said.total_tokens,
  );
}

/** The same for Responses, which names the same figures differently. */
export function responsesUsage(usage: Json | undefined, tool_uses?: ToolUses): TokenCounts | null {
  const said = objectOf(usage);
  const counts = counted(
    { whole: said.input_tokens, details: objectOf(said.input_tokens_details) },
    { whole: said.output_tokens, details: objectOf(said.output_tokens_details) },
    said.total_tokens,
  );
  return counts === null || tool_uses === undefined ? counts : { ...counts, tool_uses };
}

const CALLS: ReadonlyMap<Json | undefined, keyof ToolUses> = new Map<Json, keyof ToolUses>([
  ["web_search_call", "web_search"],
  ["file_search_call", "file_search"],
]);

/** How often tools were used that the provider runs, by the items of a response, and by what it says beside its usage. */
export function usesInResponse({ output, tool_usage }: JsonObject): ToolUses | undefined {
  const uses: Record<keyof ToolUses, number> = { web_search: 0, web_fetch: 0, file_search: 0 };
  for (const item of listOf(output)) {
    const kind = CALLS.get(objectOf(item).type);
    if (kind !== undefined) uses[kind]++;
  }
  const said = objectOf(tool_usage);
  for (const kind of ["web_search", "file_search"] as const) {
    const { num_requests } = objectOf(said[kind]);
    if (isCount(num_requests)) uses[kind] = Math.max(uses[kind], num_requests);
  }
  return someUses(uses);
}

/** Embeddings have no output. */
export function embeddingsUsage(usage: Json | undefined): TokenCounts | null {
  const { prompt_tokens: input } = objectOf(usage);
  return isCount(input) && input > 0 ? { input, output: 0 } : null;
}

interface Side {
  readonly whole: Json | undefined;
  readonly details: JsonObject;
}

function counted(input: Side, output: Side, total: Json | undefined): TokenCounts | null {
  const cache_read = part(input.details.cached_tokens);
  const cache_write = part(input.details.cache_write_tokens);
  const input_audio = part(input.details.audio_tokens);
  const reasoning = part(output.details.reasoning_tokens);
  const output_audio = part(output.details.audio_tokens);
  if (cache_read === null || cache_write === null || input_audio === null) return null;
  if (reasoning === null || output_audio === null) return null;
  // No request is empty, so a provider that counts nothing has not counted.
  if (!isCount(input.whole) || input.whole === 0 || !isCount(output.whole)) return null;
  const whole = wholeOutput(input.whole, output.whole, total, reasoning);
  if (cache_read + cache_write > input.whole || input_audio > input.whole || output_audio > whole) return null;
  if (!Number.isSafeInteger(input.whole + whole)) return null;
  const counts: Filling<TokenCounts> = { input: input.whole, output: whole };
  if (cache_read > 0) counts.cache_read = cache_read;
  if (cache_write > 0) counts.cache_write = cache_write;
  if (input_audio > 0) counts.input_audio = input_audio;
  if (reasoning > 0) counts.reasoning = reasoning;
  if (output_audio > 0) counts.output_audio = output_audio;
  return counts;
}

/**
 * Some providers leave what a model has thought out of the output, and have it in the total, or only in the details. It is
 * paid for as output, so it counts as that.
 */
function wholeOutput(input: number, output: number, total: Json | undefined, reasoning: number): number {
  const shown = isCount(total) ? Math.max(output, total - input) : output;
  return reasoning > shown ? shown + reasoning : shown;
}

function part(value: Json | undefined): number | null {
  if (!isSaid(value)) return 0;
  return isCount(value) ? value : null;
}
