import type { RemainingTokens } from "./tokens.js";

/** What is told of every call to a provider or a tool, right before it is made. The keys are meant for log fields. */
export interface CallRecord {
  readonly phase: "request" | "tool";
  /** The name of the prompt. */
  readonly prompt: string;
  /** The name of the tool; absent for requests to the provider. */
  readonly tool?: string;
  /** Milliseconds; null without a deadline. */
  readonly budget_remaining_time: number | null;
  /** Null without token limits. */
  readonly budget_remaining_tokens: RemainingTokens | null;
}
