import type { Decision } from "../core/decision.js";
import type { ExhaustionPolicy } from "../core/policy.js";

/** What is to happen when not even the cheapest model fits; null for what the budget's policy says. */
export type Unfit = "pause" | "stop" | null;

/** What depends on which model is called. Nobody chooses models by how much time there is. */
const OF_MODELS: ReadonlySet<string> = new Set(["cost_usd", "llm_tokens", "llm_input_tokens", "llm_output_tokens"]);

/**
 * The decision about a call that does not fit, as whoever has chosen its model wants it: a person is asked, or it is over. Nothing
 * is let in by this, and who only has to wait still does.
 */
export function judged(decision: Decision, unfit: Unfit): Decision {
  const { kind, findings } = decision;
  const [worst] = findings;
  if (unfit === null || worst === undefined || kind === "admitted" || kind === "busy") return decision;
  if (!OF_MODELS.has(worst.dimension)) return decision;
  const policy: ExhaustionPolicy = unfit === "pause" ? "approval_required" : "hard_stop";
  const said = findings.map((finding) => (OF_MODELS.has(finding.dimension) ? { ...finding, policy } : finding));
  // What is too large for a shared budget concerns this call alone, whatever is said.
  if (kind === "refused") return { kind, findings: said };
  return { kind: unfit === "pause" ? "paused" : "stopped", findings: said };
}
