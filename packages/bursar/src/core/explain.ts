import { DEADLINE } from "./budget.js";
import type { Decision, Finding } from "./decision.js";
import { printAmount } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";

const WORDS = {
  busy: "is busy: all that is left is held for calls in flight",
  too_large: "has less left than the call asks for",
  exhausted: "is exhausted",
};

/** A decision in words, for people: which budget does not take the call, why, and what would. */
export function explainDecision(decision: Decision, dimensions: Dimensions): string {
  const [worst, ...others] = decision.findings;
  if (worst === undefined) return decision.kind === "busy" ? "others are waiting for the same budget" : decision.kind;
  const more = others.length === 0 ? "" : ` (and ${others.length} more)`;
  return `${explain(worst, dimensions)}${more}`;
}

function explain(
  { budget, dimension, refusal, policy, asked, used, reserved, limit }: Finding,
  dimensions: Dimensions,
): string {
  if (dimension === DEADLINE) return `the deadline of budget ${budget} has passed`;
  const print = (value: number) => printAmount(dimensions.get(dimension), value);
  const held = reserved === 0 ? "" : `, ${print(reserved)} held`;
  const figures = `asked ${print(asked)}, used ${print(used)}${held}, limit ${print(limit)}`;
  return `${dimension} of budget ${budget} ${WORDS[refusal]}: ${figures}; policy ${policy}`;
}
