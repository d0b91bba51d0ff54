import { BursarError } from "../core/errors.js";
import type { Ending, PromptMessage, ToolCall } from "./message.js";
import type { TokenUsage } from "./tokens.js";
import type { ToolDefinition } from "./tool.js";

/** One request to a model. */
export interface ProviderRequest {
  readonly promptName: string;
  /** The same object in all requests of one evaluation: what an adapter keeps a running total by. */
  readonly evaluation: object;
  readonly messages: readonly PromptMessage[];
  readonly tools: readonly ToolDefinition[];
  /** The most the model may produce: what is reserved for it. Null: unbounded. */
  readonly maxOutputTokens: number | null;
  /** Fires when the deadline passes or the caller gives up. */
  readonly signal: AbortSignal;
}

/** What a provider says was used. When it says nothing, the reservation is charged. */
export interface UsageReport {
  /** Tokens of this request alone. It counts first, when both are given. */
  readonly usage?: TokenUsage | null;
  /** Tokens since the evaluation's first request. */
  readonly cumulativeUsage?: TokenUsage | null;
  /** Whether that is the most it can have been, rather than what it was. */
  readonly estimated?: boolean;
}

export interface ProviderResponse extends UsageReport {
  readonly text: string;
  /** None: this is the final response. */
  readonly toolCalls?: readonly ToolCall[];
  /** `whole` unless it is said. */
  readonly ending?: Ending;
}

/** The most a request can use. */
export interface Quote extends TokenUsage {
  /** The least the output can be held to, where the provider refuses a lower limit: 1. */
  readonly leastOutput?: number;
}

/**
 * What an evaluation needs from a model provider. `complete` must keep the model within `maxOutputTokens`, must make one
 * attempt only, because every attempt is a reservation of its own, and should end soon after the signal fires.
 *
 * @example
 * ```ts
 * const echo: Provider = {
 *   complete: async ({ messages }) => ({ text: messages.at(-1)?.content ?? "", usage: { input: 12, output: 12 } }),
 *   quote: () => ({ input: 12, output: 12 }),
 * };
 * ```
 */
export interface Provider {
  complete(request: ProviderRequest): Promise<ProviderResponse>;
  /**
   * The most the request can use. The quoted input is reserved as it stands, so a request that cannot fit is not made;
   * the output is cut to what remains, which the model is then held to by `maxOutputTokens`, and if that is less than
   * `leastOutput` the request is not made. Without a quote, input is bounded by the request's UTF-8 bytes, and all the
   * output that remains is reserved.
   */
  quote?(request: ProviderRequest): Quote | Promise<Quote>;
}

/**
 * What an adapter throws when a failed request was used for something, or for nothing, and it knows how much.
 *
 * @example
 * ```ts
 * throw new ProviderError("connection refused", { usage: { input: 0, output: 0 } });
 * ```
 */
export class ProviderError extends BursarError implements UsageReport {
  override readonly name: string = "ProviderError";
  readonly usage: TokenUsage | null;
  readonly cumulativeUsage: TokenUsage | null;
  readonly estimated: boolean;

  constructor(
    message: string,
    { usage = null, cumulativeUsage = null, estimated = false, ...options }: UsageReport & ErrorOptions,
  ) {
    super("provider", message, options);
    this.usage = usage;
    this.cumulativeUsage = cumulativeUsage;
    this.estimated = estimated;
  }
}
