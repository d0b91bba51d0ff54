import { BursarError } from "../core/errors.js";
import type { SerializedBudget } from "./serialized-budget.js";

/**
 * Where an evaluation failed.
 * - `preflight`: the budget was expired or exhausted before anything was asked of the provider.
 * - `request`, `tool`: the provider or a tool failed; no matter of budget.
 * - `budget`: time or tokens ran out before a request, during a call or after a tool.
 * - `response`: the final tally is over the limit.
 */
export type Phase = "preflight" | "request" | "tool" | "budget" | "response";

/** What ran out. */
export type ExceededDimension = "deadline" | "input" | "output";

export interface PromptEvaluationDetails {
  readonly phase: Phase;
  /** The budget at that moment, with usage and what remained; null without a budget. */
  readonly budget: SerializedBudget | null;
  /** Null when no prompt was involved, as in `Budget.assertWithinLimit`. */
  readonly promptName: string | null;
  readonly cause?: unknown;
}

/**
 * An evaluation that did not end with a response.
 *
 * @example
 * ```ts
 * try {
 *   await adapter.evaluate(prompt, { budget });
 * } catch (error) {
 *   if (error instanceof PromptEvaluationError) console.error(error.phase, error.promptName, error.budget);
 *   else throw error;
 * }
 * ```
 */
export class PromptEvaluationError extends BursarError {
  override readonly name: string = "PromptEvaluationError";
  readonly phase: Phase;
  readonly budget: SerializedBudget | null;
  readonly promptName: string | null;

  constructor(message: string, details: PromptEvaluationDetails, code = "prompt_evaluation") {
    super(code, message, "cause" in details ? { cause: details.cause } : undefined);
    this.phase = details.phase;
    this.budget = details.budget;
    this.promptName = details.promptName;
  }
}

/** Time or tokens ran out; `dimension` says which. A subagent's propagates to its parent as it is. */
export class BudgetExceededError extends PromptEvaluationError {
  override readonly name: string = "BudgetExceededError";
  readonly dimension: ExceededDimension;

  constructor(
    dimension: ExceededDimension,
    message: string,
    {
      phase = "budget",
      ...details
    }: Omit<PromptEvaluationDetails, "phase"> & { readonly phase?: "budget" | "response" },
  ) {
    super(message, { phase, ...details }, "budget_exceeded");
    this.dimension = dimension;
  }
}
