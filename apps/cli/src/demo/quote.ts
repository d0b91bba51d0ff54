import { type BudgetAmounts, type JsonObject, STANDARD, writeAmount } from "bursar";
import { type Load, PRICES_NANO_USD, type SimulatedCall } from "./script.js";

const COST = STANDARD.get("cost_usd");

/** The most a call may use, as its caller quotes it. */
export function quote({ capability_id, asks }: SimulatedCall): BudgetAmounts {
  const cost_usd = writeAmount(COST, nanoUsd(capability_id, asks));
  return "tokens" in asks ? { llm_tokens: asks.tokens, cost_usd } : { cost_usd };
}

/** What the other side says it has used, in the form in which a provider says it. */
export function report(capability_id: string, load: Load): JsonObject {
  const cost_usd = writeAmount(COST, nanoUsd(capability_id, load));
  if (!("tokens" in load)) return { usage: { cost_usd } };
  const output_tokens = Math.round(load.tokens / 5);
  return { usage: { input_tokens: load.tokens - output_tokens, output_tokens, cost_usd } };
}

/** In billionths of a dollar. */
export function nanoUsd(capability_id: string, load: Load): number {
  return "tokens" in load ? load.tokens * (PRICES_NANO_USD[capability_id] ?? 0) : load.nano_usd;
}
