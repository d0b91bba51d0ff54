/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/anthropic`: hard budgets for the Anthropic SDK.

export { BudgetExceededError } from "../meter/budget-exceeded-error.js";
export type { RefusalCode, RefusalReport } from "../meter/refusal.js";
export type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
export { type BudgetMiddleware, type BudgetOptions, budget, type MiddlewareRequest } from "./budget.js";
