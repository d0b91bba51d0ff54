import { printAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import { type BudgetLimits, type BudgetPolicies, readLimits, readPolicies } from "../core/input.js";
import { strictest } from "../core/policy.js";
import type { Defaults } from "./default-terms.js";
import { ForbiddenError, isOperator, type Principal } from "./principal.js";

/** Throws when somebody who is no operator asks for more than a run gets by default, or for a policy that is less strict. */
export function mayStartWith(
  by: Principal,
  { limits = {}, policies = {} }: { readonly limits?: BudgetLimits; readonly policies?: BudgetPolicies },
  defaults: Defaults,
  dimensions: Dimensions,
): void {
  if (isOperator(by)) return;
  const asked = readLimits(limits, dimensions, { defaults: defaults.limits });
  const told = readPolicies(policies, dimensions);
  for (const dimension of dimensions.all) {
    const { id, defaultPolicy } = dimension;
    const most = defaults.limits[id] ?? null;
    const limit = asked[id] ?? null;
    if (most !== null && (limit === null || limit > most)) {
      const much = limit === null ? "without a limit" : printAmount(dimension, limit);
      throw widening(by, `${id} ${much} is above ${printAmount(dimension, most)}`);
    }
    const usual = defaults.policies[id] ?? defaultPolicy;
    const policy = told[id] ?? usual;
    if (strictest(policy, usual) !== policy) throw widening(by, `${id} ${policy} is less strict than ${usual}`);
  }
}

function widening({ name, run }: Principal, what: string): ForbiddenError {
  const who = run === undefined ? `${name} is no operator, and` : `${name} acts for run ${run}, and`;
  return new ForbiddenError(`${who} may only tighten: ${what}; ask for less, or let an operator start the run`);
}
