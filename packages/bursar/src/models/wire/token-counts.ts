/**
 * Tokens of one call, in the classes that providers bill apart. `input` and `output` are whole; every other field is a part of
 * one of them, so that adding up `input` and `output` counts each token once, whatever the provider's own habit is.
 */
export interface TokenCounts {
  readonly input: number;
  /** Input that was read from a cache. */
  readonly cache_read?: number;
  /** Input that was written into a cache for five minutes, or for as long as the provider does by itself. */
  readonly cache_write?: number;
  /** Input that was written into a cache for an hour. */
  readonly cache_write_1h?: number;
  readonly input_audio?: number;
  /** Cached input that is audio: a part of both. */
  readonly cache_read_audio?: number;
  /** All output, thinking included. */
  readonly output: number;
  readonly reasoning?: number;
  readonly output_audio?: number;
  /** How often tools were used that the provider runs; absent where none was. */
  readonly tool_uses?: ToolUses;
}

/** Uses of tools by their kind, such as `web_search`. */
export type ToolUses = Readonly<Partial<Record<"web_search" | "web_fetch" | "file_search", number>>>;
