import type { BudgetAmounts } from "../../core/input.js";

/** Nothing was computed, so nothing is charged but the attempt. */
export const NOTHING_USED: BudgetAmounts = {
  llm_input_tokens: 0,
  llm_output_tokens: 0,
  llm_tokens: 0,
  cost_usd: 0,
};

/** Not even the request was sent. */
export const NOTHING_SENT: BudgetAmounts = { ...NOTHING_USED, network_egress_bytes: 0 };

/** Not even the attempt: those that were made count by themselves. */
export const NOTHING_AT_ALL: BudgetAmounts = { ...NOTHING_SENT, steps: 0, iterations: 0, depth: 0 };
