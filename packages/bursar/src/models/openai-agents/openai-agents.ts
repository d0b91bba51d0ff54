/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/openai-agents`: hard budgets for the OpenAI Agents SDK.

export { BudgetExceededError } from "../meter/budget-exceeded-error.js";
export type { RefusalCode, RefusalReport } from "../meter/refusal.js";
export type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
export { type GovernOptions, govern } from "./govern.js";
export { type GovernedProviderOptions, governedProvider } from "./governed-provider.js";
export { nested } from "./nested.js";
