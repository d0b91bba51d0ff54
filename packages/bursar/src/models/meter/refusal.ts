import { DEADLINE } from "../../core/budget.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import type { Decision } from "../../core/decision.js";
import { writeAmount } from "../../core/dimension.js";
import type { Dimensions } from "../../core/dimensions.js";

/**
 * Why a request was not sent.
 * - `budget_exceeded`: it does not fit into its budget, whatever anybody does but an extension.
 * - `approval_required`: it does not fit, and a person may extend the budget.
 * - `budget_busy`: what is left is held by other calls, and it has waited long enough.
 * - `unknown_price`: nobody knows what the model costs.
 * - `unbounded`: it may cost something that nobody can bound beforehand.
 * - `no_budget`: it was made outside of any budget, or in one that takes no calls any more.
 * - `not_governed`: it goes to an address that may cost something and that is not metered.
 * - `invalid_request`: it is none that the provider would take.
 */
export type RefusalCode =
  | "budget_exceeded"
  | "approval_required"
  | "budget_busy"
  | "unknown_price"
  | "unbounded"
  | "no_budget"
  | "not_governed"
  | "invalid_request";

const CODES: Readonly<Record<RefusalCode, true>> = {
  budget_exceeded: true,
  approval_required: true,
  budget_busy: true,
  unknown_price: true,
  unbounded: true,
  no_budget: true,
  not_governed: true,
  invalid_request: true,
};

export function isRefusalCode(code: unknown): code is RefusalCode {
  return typeof code === "string" && Object.hasOwn(CODES, code);
}

/** A refusal as it is told over the wire: nothing was sent, and nothing was charged. Amounts are in edge units. */
export interface RefusalReport {
  readonly code: RefusalCode;
  readonly message: string;
  /** What to do about it. */
  readonly hint: string;
  /** The budget that does not take the call. */
  readonly scope?: string;
  readonly dimension?: string;
  readonly policy?: string;
  readonly refusal?: string;
  readonly limit?: number;
  readonly used?: number;
  readonly reserved?: number;
  readonly remaining?: number;
  readonly asked?: number;
  /** The request for approval that waits for an answer, and where to answer it. */
  readonly approval_id?: string;
  readonly approval_url?: string;
}

export const HINTS: Readonly<Record<"budget_exceeded" | "approval_required" | "budget_busy", string>> = {
  budget_exceeded: "ask whoever set the limit to extend it",
  approval_required: "a person has to approve an extension; then the same call passes",
  budget_busy: "try again when the calls in flight are over, or give the call more time to wait",
};

/** Says what a decision means to whoever made the call. */
export function reportDecision(decision: Decision, message: string, dimensions: Dimensions): RefusalReport {
  const [worst] = decision.findings;
  const code =
    decision.kind === "busy" ? "budget_busy" : decision.kind === "paused" ? "approval_required" : "budget_exceeded";
  // What is used up takes no call, however small it is.
  const smaller = code === "budget_exceeded" && worst?.refusal === "too_large" ? ", or make the call smaller" : "";
  const base = { code, message, hint: `${HINTS[code]}${smaller}` } as const;
  if (worst === undefined) return base;
  const { budget: scope, dimension, policy, refusal } = worst;
  if (dimension === DEADLINE || !dimensions.has(dimension)) return { ...base, scope, dimension, policy, refusal };
  const edge = (value: number) => writeAmount(dimensions.get(dimension), value);
  const { limit, used, reserved, asked } = worst;
  const remaining = edge(Math.max(0, limit - used));
  return {
    ...base,
    scope,
    dimension,
    policy,
    refusal,
    remaining,
    limit: edge(limit),
    used: edge(used),
    reserved: edge(reserved),
    asked: edge(asked),
  };
}

/** A call that nobody can bound beforehand is not made. */
export function unbounded(
  message: string,
  hint = "a call that nobody can bound beforehand is not made",
): RefusalReport {
  return { code: "unbounded", message, hint };
}

/** The body of the answer in place of the provider's: every SDK finds its message where it looks for one. */
export function refusalBody(report: RefusalReport): JsonObject {
  const { code, message, hint } = report;
  const type = code === "invalid_request" ? "invalid_request_error" : "budget_exceeded";
  const error = { type, code, message: `${message}; ${hint}`, param: null, bursar: { ...report } };
  return { type: "error", error };
}

/** No SDK sends again what was answered with 402; 400 is what providers say themselves. */
export function refusalStatus({ code }: RefusalReport): 400 | 402 {
  return code === "invalid_request" ? 400 : 402;
}

/** All SDKs that look for one take the first; 402 stops the others. */
export const REFUSAL_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "application/json",
  "x-should-retry": "false",
};
