import { InputError, show } from "../../core/errors.js";
import type { PriceBook } from "../prices/price.js";
import { howToPrice } from "../prices/stated-price.js";
import type { ProtocolName } from "../wire/protocol.js";
import type { TierList } from "./tier-list.js";

const PROTOCOLS: readonly ProtocolName[] = ["openai-chat", "openai-responses", "anthropic-messages"];

/** Refuses lists with a model that nobody knows the price of: it could never be chosen, and nobody would know why. */
export function checkTierPrices(lists: Iterable<TierList>, book: PriceBook): void {
  for (const { name, tiers } of lists) {
    for (const tier of tiers) {
      if (PROTOCOLS.some((protocol) => book.find(tier.model, { url: null, protocol }) !== null)) continue;
      const field = `tiers.lists.${name}.${tier.name}`;
      throw new InputError(field, `is the model ${show(tier.model)}, which has no price; ${howToPrice(tier.model)}`);
    }
  }
}
