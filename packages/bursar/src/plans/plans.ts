export type { PlanBudget, PlanGrant, PlanLimits } from "./budget.js";
export { type CompileOptions, compilePlan } from "./compile.js";
export { type ExecutionContext, readExecutionContext } from "./execution-context.js";
export type { PlanInput } from "./inputs.js";
export { type Plan, planErrorAt } from "./plan.js";
export { PlanError, type Position } from "./plan-error.js";
export { planProgram, revivePlan } from "./plan-program.js";
export { planTerms } from "./plan-terms.js";
