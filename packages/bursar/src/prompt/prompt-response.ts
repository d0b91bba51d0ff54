import type { Budget } from "./budget.js";
import type { Ending } from "./message.js";
import type { TokenUsage } from "./tokens.js";
import type { ToolExecution } from "./tool.js";

/** How an evaluation ended. */
export interface PromptResponse {
  readonly promptName: string;
  readonly text: string;
  /** Whether the text is all there. */
  readonly ending: Ending;
  /** What this evaluation used, its tools and subagents included. */
  readonly usage: TokenUsage;
  /** Whether some of the usage is an estimate. */
  readonly estimated: boolean;
  readonly toolExecutions: readonly ToolExecution[];
  readonly budget: Budget | null;
}
