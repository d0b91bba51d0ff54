import type { Budget } from "./budget.js";
import type { TokenUsage } from "./tokens.js";
import type { ToolExecution } from "./tool.js";

/** How an evaluation ended. */
export interface PromptResponse {
  readonly promptName: string;
  readonly text: string;
  /** What this evaluation used, its tools and subagents included. */
  readonly usage: TokenUsage;
  /** Whether some of the usage is an estimate. */
  readonly estimated: boolean;
  readonly toolExecutions: readonly ToolExecution[];
  readonly budget: Budget | null;
}
