import type { PreflightPolicy } from "bursar";
import type { EstimateChoice } from "../app/equipment/foresight.js";
import { UsageError, unknown } from "../app/errors.js";
import { type Flags, type Given, textOf } from "./run-flags.js";

const POLICIES = ["refuse", "ask", "warn", "off"] as const;

/** What is said about the estimate that is made before a run begins. */
export const PREFLIGHT: Flags = { preflight: { type: "string" }, "no-predict": { type: "boolean" } };

export const PREFLIGHT_HELP = `  --preflight <what> what becomes of a run whose 95 % does not fit into its
                     limits: warn (the default), ask, refuse; off neither
                     estimates it nor learns from it
  --no-predict       do not ask a model what it will take`;

/** What becomes of a run that is expected not to fit; null when nothing is said, or nothing is to be estimated. */
export function preflightOf(flags: Given): PreflightPolicy | null {
  const text = textOf(flags, "preflight");
  if (text === undefined) return null;
  const policy = POLICIES.find((each) => each === text);
  if (policy === undefined) throw new UsageError(unknown(`--preflight ${text.slice(0, 40)}`, text, POLICIES));
  return policy === "off" ? null : policy;
}

/** Whether runs are estimated, and whether a model is asked for that. */
export function estimateChoiceOf(flags: Given): EstimateChoice {
  return { isOff: textOf(flags, "preflight") === "off", asksModel: flags["no-predict"] !== true };
}
