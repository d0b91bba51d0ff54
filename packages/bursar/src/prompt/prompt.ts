/// <reference lib="esnext.disposable" preserve="true" />
export type { Clock } from "../ports/clock.js";
export type { Timer } from "../ports/timer.js";
export { type Adapter, createAdapter, type EvaluateOptions } from "./adapter.js";
export { Budget, type BudgetParts } from "./budget.js";
export type { CallRecord } from "./call-record.js";
export { Deadline } from "./deadline.js";
export {
  BudgetExceededError,
  type ExceededDimension,
  type Phase,
  type PromptEvaluationDetails,
  PromptEvaluationError,
} from "./errors.js";
export { evaluate } from "./evaluate.js";
export type { Ending, PromptMessage, ToolCall } from "./message.js";
export type { PromptResponse } from "./prompt-response.js";
export {
  type Provider,
  ProviderError,
  type ProviderRequest,
  type ProviderResponse,
  type Quote,
  type UsageReport,
} from "./provider.js";
export type { RenderedPrompt } from "./rendered-prompt.js";
export type { SerializedBudget } from "./serialized-budget.js";
export type { AdapterOptions } from "./settings.js";
export type { RemainingTokens, TokenLimit, TokenUsage } from "./tokens.js";
export type { TokenReport, Tool, ToolContext, ToolDefinition, ToolExecution } from "./tool.js";
