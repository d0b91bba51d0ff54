import { InputError, show } from "../../core/errors.js";
import type { Price } from "../prices/price.js";
import { scaledPrice } from "../prices/scaled-price.js";

/** What a provider charges for a batch, as a part of what it charges otherwise, where its own address says who it is. */
const KNOWN: Readonly<Record<string, number>> = { openai: 0.5, anthropic: 0.5 };

/** The part of the usual price that batches cost. Who is not known to give anything off is taken to give nothing. */
export function batchFactor(stated: number | undefined, provider: string, isHome: boolean): number {
  if (stated === undefined) return isHome ? (KNOWN[provider] ?? 1) : 1;
  if (typeof stated === "number" && stated > 0 && stated <= 1) return stated;
  throw new InputError("price_factor", `is ${show(stated)}; allowed: more than 0, and 1 at most`);
}

/** The price of a model in a batch: rounded up once more, so that nobody is charged too little. */
export function batchPrice(price: Price, factor: number): Price {
  return scaledPrice(price, factor);
}
