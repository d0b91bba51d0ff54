/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/models`: models over the network, with what they cost.

export { type ChatModelOptions, chatModel } from "./chat.js";
export { openPrices, type PricesOptions } from "./prices/open-prices.js";
export type { Bound, Price, PriceBook } from "./prices/price.js";
export type { ModelPrice, ModelPrices, StatedRates, StatedTier } from "./prices/stated-price.js";
export { ProviderError, type ProviderFailure } from "./provider-error.js";
export type { ProtocolName } from "./wire/protocol.js";
export type { TokenCounts } from "./wire/token-counts.js";
