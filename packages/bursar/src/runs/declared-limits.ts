import type { Dimensions } from "../core/dimensions.js";
import { readLimits, readPolicies } from "../core/input.js";
import type { Opinion, Prediction } from "../ports/foresight.js";
import type { ProgramTerms } from "../ports/program.js";

/**
 * Estimates a run from the limits that its program declares, such as `(run :budget {:steps 5} …)` in a plan: the program may use all of
 * them. The figures are therefore rather too high. A limit that only warns bounds nothing and is left out. Null without a limit.
 */
export function estimateFromTerms(terms: ProgramTerms, dimensions: Dimensions): Opinion | null {
  const own = readLimits(terms.limits ?? {}, dimensions, { field: "terms.limits" });
  const session = readLimits(terms.session_limits ?? {}, dimensions, { field: "terms.session_limits" });
  const policies = readPolicies(terms.policies ?? {}, dimensions, { field: "terms.policies" });
  const predictions: Record<string, Prediction> = {};
  for (const { id } of dimensions.all) {
    const declared = policies[id] === "soft_warn" ? undefined : own[id];
    const limit = Math.min(declared ?? Number.POSITIVE_INFINITY, session[id] ?? Number.POSITIVE_INFINITY);
    if (limit !== Number.POSITIVE_INFINITY) predictions[id] = { median: limit, upper: limit };
  }
  if (Object.keys(predictions).length === 0) return null;
  return { dimensions: predictions, about: `the limits that ${terms.from ?? "the program"} declares, used up` };
}
