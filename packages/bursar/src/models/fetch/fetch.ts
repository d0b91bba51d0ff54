/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/fetch`: the meter on the wire.

export { BudgetExceededError } from "../meter/budget-exceeded-error.js";
export { CALLS, type CallEnded, type CallRecord, type CallStarted } from "../meter/call-record.js";
export type { RefusalCode, RefusalReport } from "../meter/refusal.js";
export type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
export type { CacheReuse, EmbeddingReuse, ReuseOptions } from "../reuse/options.js";
export { openReuse, type Reuse } from "../reuse/reuse.js";
export { type GovernedFetchOptions, governedFetch } from "./governed-fetch.js";
