import type { Budget } from "./budget.js";
import type { PromptResponse } from "./prompt-response.js";
import type { RenderedPrompt } from "./rendered-prompt.js";
import type { RemainingTokens, TokenUsage } from "./tokens.js";

/** What the model is told about a tool. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  /** JSON Schema of the input. */
  readonly inputSchema?: unknown;
}

/**
 * Something the model can have done. The output goes back to the model: a string as it is, anything else as JSON.
 *
 * @example
 * ```ts
 * const research: Tool = {
 *   name: "research",
 *   async handler(input, { delegate, remainingTokens }) {
 *     if ((remainingTokens()?.output ?? 1_000) < 200) return "too little is left for research";
 *     return (await delegate({ name: "researcher", text: String(input) })).text;
 *   },
 * };
 * ```
 */
export interface Tool extends ToolDefinition {
  /** The input is what the model wrote: check it before use. */
  handler(input: unknown, context: ToolContext): unknown;
}

/** Tokens a tool used by itself. */
export interface TokenReport extends TokenUsage {
  /** Whether the figures are a guess rather than measured. */
  readonly estimated?: boolean;
}

/** What a tool handler is given, so that it can bail out while there is time. The methods need no `this`. */
export interface ToolContext {
  readonly budget: Budget | null;
  /** Fires when the deadline passes or the caller gives up; then nobody waits for the tool any more. */
  readonly signal: AbortSignal;
  /** All that has been used under the budget; without one, what this evaluation has used. */
  usage(): TokenUsage;
  /** Milliseconds; null without a deadline. */
  remainingTime(): number | null;
  remainingTokens(): RemainingTokens | null;
  /** Counts tokens the tool used. It is the truth, so it is never refused; whether too much was used is checked after. */
  reportTokens(report: TokenReport): void;
  /**
   * Evaluates a child prompt with the same provider under the same budget object; without a budget, under the child
   * prompt's own. What the child uses, the parent has used; when it exceeds the budget, the parent ends too, also if
   * the handler swallows the error.
   */
  delegate(prompt: RenderedPrompt): Promise<PromptResponse>;
}

/** A tool call that has been made. */
export interface ToolExecution {
  readonly tool: string;
  readonly input: unknown;
  readonly output: unknown;
  /** What the tool reported and its subagents used. */
  readonly usage: TokenUsage;
  /** Whether some of the usage is an estimate. */
  readonly estimated: boolean;
  readonly budget: Budget | null;
}
