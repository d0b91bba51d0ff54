import type { Price } from "./price.js";

/**
 * Stands in for the price of a model that has none, where no budget limits money. Nothing is reserved or charged in money for its calls,
 * and the chain says that their cost is unknown.
 */
export function noPrice(model: string): Price {
  return {
    model,
    source: "unknown",
    context_window: null,
    cost: () => 0n,
    most: () => 0n,
    affordable: () => Number.MAX_SAFE_INTEGER,
  };
}

/** Whether money is counted with a price. */
export function isPriced({ source }: Pick<Price, "source">): boolean {
  return source !== "unknown";
}
