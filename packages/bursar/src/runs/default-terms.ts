import type { Amounts } from "../core/amount.js";
import type { Dimensions } from "../core/dimensions.js";
import { type BudgetLimits, type BudgetPolicies, defaultLimits, readLimits, readPolicies } from "../core/input.js";
import type { Policies } from "../core/policy.js";

/** What a run gets unless whoever starts it says otherwise. What is not named here is as in the table of dimensions. */
export interface DefaultTerms {
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
}

/** The same as the ledger takes it: every limit that there is, and the policies that are named. */
export interface Defaults {
  readonly limits: Amounts;
  readonly policies: Policies;
}

export function readDefaults({ limits = {}, policies = {} }: DefaultTerms, dimensions: Dimensions): Defaults {
  return {
    limits: readLimits(limits, dimensions, { field: "governance.limits", defaults: defaultLimits(dimensions) }),
    policies: readPolicies(policies, dimensions, { field: "governance.policies" }),
  };
}
