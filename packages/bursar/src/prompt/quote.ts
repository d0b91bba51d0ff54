import { amount } from "../core/amount.js";
import { estimateTokens } from "../core/usage.js";
import type { Ask } from "./budget-node.js";
import type { Evaluation } from "./evaluation.js";
import { outcomeOf } from "./outcome.js";
import type { ProviderRequest, Quote } from "./provider.js";
import { readTokenUsage } from "./tokens.js";

/**
 * What to reserve for a request, so that no two requests can pass on the same last tokens.
 *
 * With a quote: its input as it stands, because input cannot be cut, and its output cut to what remains. Without one:
 * the request's UTF-8 bytes as input, cut to what remains, and all the output that remains; then requests under one
 * budget go one after the other wherever output is limited. Output that cannot be held to what remains does not fit. What is unbounded is held only as far as it is known.
 */
export function askFor(quote: Quote | null, { messages, tools }: ProviderRequest): Ask {
  const bound = quote === null ? (estimateTokens({ messages, tools }, "").llm_input_tokens ?? 0) : quote.input;
  const least = Math.max(1, quote?.leastOutput ?? 1);
  return (remaining) => ({
    input: Math.max(1, quote === null ? cut(bound, remaining.input) : bound),
    output:
      remaining.output === null ? (quote?.output ?? 0) : Math.max(least, cut(quote?.output ?? null, remaining.output)),
  });
}

/** Asks the provider for its projection; null when it makes none. */
export async function quoteFor(evaluation: Evaluation, request: ProviderRequest): Promise<Quote | null> {
  const { provider } = evaluation.settings;
  if (provider.quote === undefined) return null;
  const outcome = await outcomeOf(async () => readQuote(await provider.quote?.(request)), evaluation.signal);
  if (outcome.kind === "done") return outcome.value;
  if (outcome.kind === "abandoned" || evaluation.signal.aborted) throw evaluation.interruption("request");
  throw evaluation.failure("request", "was not sent: its provider gave no quote", outcome.error);
}

function readQuote(quote: unknown): Quote {
  const usage = readTokenUsage(quote, "quote");
  const { leastOutput = 1 } = quote as Partial<Record<keyof Quote, unknown>>;
  return { ...usage, leastOutput: amount(leastOutput, "quote.leastOutput") };
}

function cut(wanted: number | null, remaining: number | null): number {
  return Math.min(wanted ?? Number.POSITIVE_INFINITY, remaining ?? Number.POSITIVE_INFINITY);
}
