import type { TiersOptions } from "../../ports/tiers.js";
import { openPrices, type PricesOptions } from "../prices/open-prices.js";
import { readTiers } from "./tier-list.js";
import { checkTierPrices } from "./tier-prices.js";

/**
 * Throws when lists of tiers cannot be used: when they make no sense, or when nobody knows what one of their models costs. For
 * whoever reads them from a file, and wants to hear of it before the first call.
 *
 * @example
 * ```ts
 * await checkTiers({ lists: { auto: { tiers: [{ name: "large", model: "gpt-5" }] } } });
 * ```
 */
export async function checkTiers(tiers: TiersOptions, prices: PricesOptions = {}): Promise<void> {
  const { lists } = readTiers(tiers);
  checkTierPrices(lists.values(), await openPrices(prices));
}
