import type { Json } from "../core/chain/canonical.js";
import type { BudgetAmounts } from "../core/input.js";

/** Something that answers requests to a language model, and knows beforehand what one may cost at most. */
export interface Model {
  /** Which model answers when a request names none. */
  readonly name?: string;
  /** The most a request may use, in edge units. It throws when the price is not known. */
  quote(request: Json): BudgetAmounts | Promise<BudgetAmounts>;
  /** Makes the request. What it gives back may carry usage under any of the usual names. */
  call(request: Json, options: { readonly signal: AbortSignal; readonly key: string }): Promise<ModelAnswer>;
}

export interface ModelAnswer {
  readonly value: Json;
  readonly usage?: unknown;
}
