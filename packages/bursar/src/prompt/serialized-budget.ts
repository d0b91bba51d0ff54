import type { Budget } from "./budget.js";
import type { RemainingTokens, TokenLimit, TokenUsage } from "./tokens.js";

/** A budget as errors carry it: what it allowed, what was used and what remained. Plain JSON. */
export interface SerializedBudget {
  /** ISO 8601. */
  readonly deadline: string | null;
  readonly tokenLimit: Required<TokenLimit> | null;
  readonly usage: TokenUsage;
  /** Whether some of the usage is an estimate, because a provider did not report it. */
  readonly estimated: boolean;
  /** Milliseconds. */
  readonly remainingTime: number | null;
  readonly remainingTokens: RemainingTokens | null;
}

export function serializeBudget(
  budget: Budget,
  usage: TokenUsage,
  { now, estimated = false }: { readonly now?: number; readonly estimated?: boolean } = {},
): SerializedBudget {
  return Object.freeze({
    ...budget.toJSON(),
    usage,
    estimated,
    remainingTime: budget.remainingTime(now),
    remainingTokens: budget.remainingTokens(usage),
  });
}
