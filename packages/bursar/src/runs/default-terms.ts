import type { Amounts } from "../core/amount.js";
import type { Dimensions } from "../core/dimensions.js";
import {
  type BudgetAmounts,
  type BudgetLimits,
  type BudgetPolicies,
  defaultLimits,
  readAmounts,
  readLimits,
  readPolicies,
} from "../core/input.js";
import type { Policies } from "../core/policy.js";

/** Who says so, for people, such as `policy house, bursar.yaml:12`. */
export interface DefaultOrigin {
  readonly limit?: string;
  readonly policy?: string;
  readonly ceiling?: string;
}

/** What a run gets unless its program or its start says otherwise. What is not named here is as in the table of dimensions. */
export interface DefaultTerms {
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
  /** What no run is given more than, not even by an operator. */
  readonly ceilings?: BudgetLimits;
  /** What is set aside for the final answer, unless the start says otherwise. */
  readonly wrap_up?: BudgetAmounts;
  readonly thresholds?: readonly number[];
  /** How long a request of the run waits for an answer. */
  readonly approval_ms?: number;
  /** By dimension. */
  readonly origins?: Readonly<Record<string, DefaultOrigin>>;
}

/** The same as the ledger takes it: every limit that there is, and the policies that are named. */
export interface Defaults extends Pick<DefaultTerms, "thresholds" | "approval_ms"> {
  readonly limits: Amounts;
  readonly policies: Policies;
  readonly ceilings: Amounts;
  readonly wrap_up: Amounts;
  readonly origins: Readonly<Record<string, DefaultOrigin>>;
}

export function readDefaults(terms: DefaultTerms, dimensions: Dimensions): Defaults {
  const { limits = {}, policies = {}, ceilings = {}, wrap_up = {}, origins = {}, thresholds, approval_ms } = terms;
  const amounts = { field: "governance.wrap_up", clocks: true };
  return {
    limits: readLimits(limits, dimensions, { field: "governance.limits", defaults: defaultLimits(dimensions) }),
    policies: readPolicies(policies, dimensions, { field: "governance.policies" }),
    ceilings: readLimits(ceilings, dimensions, { field: "governance.ceilings" }),
    wrap_up: readAmounts(wrap_up, dimensions, amounts),
    origins,
    ...(thresholds !== undefined && { thresholds }),
    ...(approval_ms !== undefined && { approval_ms }),
  };
}
