/** A tool the model wants called. The input is what the model wrote: check it before use. */
export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

/**
 * How an answer ended: `whole`, or cut at the limit of its output (`length`), or held back by the provider (`filtered`), so that
 * its text is not all there.
 */
export type Ending = "whole" | "length" | "filtered";

/** One turn of the conversation an evaluation holds with the provider. */
export type PromptMessage =
  | { readonly role: "system" | "user"; readonly content: string }
  | { readonly role: "assistant"; readonly content: string; readonly toolCalls?: readonly ToolCall[] }
  | { readonly role: "tool"; readonly toolCallId: string; readonly name: string; readonly content: string };
