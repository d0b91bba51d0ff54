import type { ProtocolName } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";

/** The most a call can come to. */
export interface Bound {
  readonly input: number;
  readonly output: number;
  readonly caches: "no" | "5m" | "1h";
  readonly audio: boolean;
  /** What tools that the provider runs cost at most, in billionths of a dollar. */
  readonly tools_nano?: bigint;
}

/** What one model costs. All sums are exact and in billionths of a dollar, rounded up once. */
export interface Price {
  readonly model: string;
  /**
   * Where it comes from: the caller's own words, the table of prices, or what the caller assumes for models nobody knows. `unknown` stands for
   * no price at all, where no budget limits money.
   */
  readonly source: "stated" | "table" | "assumed" | "unknown";
  /** The most input the model can take, where it is known. */
  readonly context_window: number | null;
  cost(counts: TokenCounts): bigint;
  /** No call within the bound costs more. It throws `UnboundedError` for audio that nobody has a price for, as `affordable` does. */
  most(bound: Bound): bigint;
  /** The most output for so much money beside so much input; 0 when not even the input fits. */
  affordable(nano: bigint, bound: Omit<Bound, "output">): number;
}

export interface PriceBook {
  /** Null: nobody knows what it costs, so it is not called. */
  find(model: string, about: { readonly url: string | null; readonly protocol: ProtocolName }): Price | null;
  /** The name that a mistyped one most likely meant; null where none is close. */
  nearest?(model: string, protocol: ProtocolName): string | null;
}

/** What is said beside the name of a model that nobody knows the price of, mostly because it is mistyped. */
export function guessFor(book: PriceBook, model: string, protocol: ProtocolName): string {
  const guess = book.nearest?.(model, protocol) ?? null;
  // The same model may have a price at another host alone.
  return guess === null || guess === model ? "" : ` (did you mean ${guess}?)`;
}
