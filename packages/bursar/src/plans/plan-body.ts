import type { Binding, Expression } from "./expression.js";
import type { Plan } from "./plan.js";

/** What a plan does, as the compiler has understood it. */
export interface PlanBody {
  /** What the body calls the run's input. */
  readonly input: Binding;
  readonly expression: Expression;
}

/** Beside the plans, which are plain data: a body goes round in circles where a function calls itself. */
const bodies = new WeakMap<Plan, PlanBody>();

export function keepBody(plan: Plan, body: PlanBody): Plan {
  bodies.set(plan, body);
  return plan;
}

/** Null for a plan that did not come from the compiler, such as a copy of one. */
export function bodyOf(plan: Plan): PlanBody | null {
  return bodies.get(plan) ?? null;
}
