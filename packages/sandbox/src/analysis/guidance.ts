import type { ErrorFacts } from "./facts.js";
import type { ErrorGuidance } from "./result.js";
import { stderrGuidance } from "./stderr-guidance.js";
import { trapGuidance } from "./trap-guidance.js";

/**
 * What went wrong in an execution and what to do about it; null when it succeeded, or when nothing is known about such a
 * failure. A trap goes before anything in stderr: it is the host's own observation.
 *
 * ```ts
 * const guidance = explainError({
 *   language: "python",
 *   exitCode: 1,
 *   trap: null,
 *   stderr: "FileNotFoundError: /etc/passwd",
 *   consumed: 250_000_000,
 *   budget: 10_000_000_000,
 * });
 * guidance?.error_type; // "PathRestriction"
 * ```
 */
export function explainError(facts: ErrorFacts): ErrorGuidance | null {
  if (facts.trap !== null) return trapGuidance(facts.trap, facts);
  return facts.exitCode === 0 ? null : stderrGuidance(facts);
}
