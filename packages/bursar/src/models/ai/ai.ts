/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/ai`: hard budgets for the AI SDK and for what is built on it.

export { BudgetExceededError } from "../meter/budget-exceeded-error.js";
export type { RefusalCode, RefusalReport } from "../meter/refusal.js";
export type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
export { budgetStop } from "./budget-stop.js";
export { type GovernOptions, govern } from "./govern.js";
export { nested } from "./nested.js";
export { type TieredOptions, tiered } from "./tiered.js";
