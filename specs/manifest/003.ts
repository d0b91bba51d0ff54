import type { Entry } from "./entry.js";

/** The requirements of specs/003-prompt-budget.md: one for each bullet, nested ones apart where they demand something. */
export const promptBudget = [
  // Abstraction
  ["003/budget-immutable", "32"],
  ["003/budget-deadline", "33"],
  ["003/budget-token-limit", "34-38"],
  ["003/token-limit", "39-40"],
  ["003/token-limit-input", "41"],
  ["003/token-limit-output", "42"],
  ["003/token-limit-unbounded", "43-44"],
  ["003/budget-construction", "45-47"],
  ["003/remaining-time", "49-50"],
  ["003/remaining-tokens", "51-54"],
  ["003/assert-within-limit", "55-58"],

  // API Changes
  ["003/evaluate-budget", "62-65"],
  ["003/rendered-prompt-budget", "66-67"],
  ["003/budget-exceeded-error", "68-69"],
  ["003/tool-context-budget", "70-71"],

  // Enforcement Rules
  ["003/preflight-validation", "75-77"],
  ["003/provider-requests", "78-82"],
  ["003/token-accounting", "83-88"],
  ["003/subagents", "89-92"],
  ["003/finalization", "93-95"],

  // Observability
  ["003/remaining-metrics", "99-100"],
  ["003/error-budget-payload", "101-102"],

  // Testing Strategy
  ["003/unit-tests", "106-107"],
  ["003/adapter-tests", "108-109"],
  ["003/subagent-tests", "110-111"],
] as const satisfies readonly Entry[];
