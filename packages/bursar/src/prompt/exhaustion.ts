import { DEADLINE } from "../core/budget.js";
import type { Finding } from "../core/decision.js";
import type { ExceededDimension } from "./errors.js";

export function dimensionOf({ dimension }: Finding): ExceededDimension {
  if (dimension === DEADLINE) return "deadline";
  return dimension === "llm_input_tokens" ? "input" : "output";
}

/** What stopped a prompt, and what its caller can do. */
export function explain(finding: Finding): string {
  const kind = dimensionOf(finding);
  const { asked, used, limit, refusal } = finding;
  if (kind === "deadline") {
    return `the deadline ${new Date(limit).toISOString()} has passed; give a later one with a new Budget`;
  }
  const spent = `${used} of ${limit} ${kind} tokens are used`;
  const advice = `give a larger tokenLimit.${kind} with a new Budget`;
  if (refusal === "too_large") return `${spent} and the request may take ${asked} more; shorten it or ${advice}`;
  if (used < limit) return `${spent}, and a request that did not fit has been refused before; ${advice}`;
  return `${spent}; ${advice}`;
}
