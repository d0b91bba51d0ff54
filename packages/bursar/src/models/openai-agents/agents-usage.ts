import type { JsonObject } from "../../core/chain/canonical.js";
import { responsesUsage } from "../wire/openai-usage.js";
import type { TokenCounts } from "../wire/token-counts.js";

/** Usage in the SDK's own words. It puts 0 where a provider has said nothing. */
export interface AgentsUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly totalTokens: number;
  readonly inputTokensDetails?: Details | undefined;
  readonly outputTokensDetails?: Details | undefined;
}

type Details = Readonly<Record<string, number>> | readonly Readonly<Record<string, number>>[];

/** What the SDK says was used; null when it says nothing that can be counted. */
export function countsOf(usage: AgentsUsage | undefined): TokenCounts | null {
  if (usage === undefined) return null;
  return responsesUsage({
    input_tokens: usage.inputTokens,
    input_tokens_details: sumOf(usage.inputTokensDetails),
    output_tokens: usage.outputTokens,
    output_tokens_details: sumOf(usage.outputTokensDetails),
    total_tokens: usage.totalTokens,
  });
}

/** One object for each request that the SDK counts as one; usually there is one. */
function sumOf(details: Details | undefined): JsonObject {
  const sums: Record<string, number> = {};
  for (const each of details === undefined ? [] : ([details].flat() as readonly Readonly<Record<string, number>>[])) {
    for (const [name, count] of Object.entries(each)) sums[name] = (sums[name] ?? 0) + count;
  }
  return sums;
}
