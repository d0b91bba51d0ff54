/** What an evaluation of `bursar/prompt` tells of a call, right before it is made. */
export interface PromptCall {
  readonly phase: "request" | "tool";
  readonly prompt: string;
  readonly tool?: string;
  /** Milliseconds; null without a deadline. */
  readonly budget_remaining_time: number | null;
  readonly budget_remaining_tokens: { readonly input: number | null; readonly output: number | null } | null;
}
