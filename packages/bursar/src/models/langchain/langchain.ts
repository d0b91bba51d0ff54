/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar/langchain`: hard budgets for LangChain.

export { BudgetExceededError } from "../meter/budget-exceeded-error.js";
export type { RefusalCode, RefusalReport } from "../meter/refusal.js";
export type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
export { type BudgetOptions, budget, type LangChainBudget } from "./budget.js";
export type { BudgetHandler } from "./budget-handler.js";
