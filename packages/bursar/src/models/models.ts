/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/models`: models over the network, with what they cost.

export type { BatchesOptions } from "./batch/batch-options.js";
export { type BatchCallOptions, Batches, openBatches } from "./batch/batches.js";
export { type ChatModelOptions, chatModel } from "./chat/chat.js";
export { ProviderError, type ProviderFailure } from "./chat/provider-error.js";
export { type AllowedMembers, allowedNames } from "./meter/allowed-members.js";
export { modelPredictor, type PredictorOptions } from "./predict/predictor.js";
export { openPrices, type PricesOptions } from "./prices/open-prices.js";
export type { Bound, Price, PriceBook } from "./prices/price.js";
export type { PriceRemedies } from "./prices/price-remedies.js";
export type { ModelPrice, ModelPrices, StatedRates, StatedTier } from "./prices/stated-price.js";
export { keepSites } from "./reservations/sites.js";
export type { CacheReuse, EmbeddingReuse, ReuseOptions } from "./reuse/options.js";
export { openReuse, type Reuse } from "./reuse/reuse.js";
export { type SavedKind, savedUsd } from "./reuse/saved.js";
export { checkTiers } from "./tiers/check-tiers.js";
export { tieredModel } from "./tiers/tiered-model.js";
export { type ModelDeployments, readDeployments } from "./wire/deployments.js";
export type { ProtocolName } from "./wire/protocol.js";
export type { TokenCounts } from "./wire/token-counts.js";
