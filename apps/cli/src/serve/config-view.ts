import { type JsonObject, writeAmount } from "bursar";
import { type Configuration, effectiveBudget, printOrigin, printProblem } from "bursar/config";
import { configReport } from "../runs/config-notice.js";

/** What a run gets that says nothing of its own, and who says so; one of this program, if it is named. */
export function configView(config: Configuration, agent?: string): JsonObject {
  const answer = effectiveBudget({ config, authority: "operator", ...(agent !== undefined && { agent }) });
  const { file, tightened_by, ignored } = configReport(config);
  const files = { file, tightened_by: [...tightened_by], ignored: ignored.map(printProblem) };
  if (answer.kind === "refused") return { ...files, problems: answer.refusals.map(({ message }) => message) };
  const { dimensions, policy, thresholds, approval_expiry_ms } = answer.budget;
  return {
    ...files,
    limits: dimensions.map(({ dimension, limit, policy: exhausted }) => ({
      dimension: dimension.id,
      value: limit.value === null ? null : writeAmount(dimension, limit.value),
      policy: exhausted.value,
      origin: printOrigin(limit.origin),
    })),
    policy: policy?.name ?? null,
    policies: [...config.policies.keys()],
    agents: [...config.agents.keys()],
    sessions: [...config.sessions.keys()],
    thresholds: [...thresholds.value],
    approval_expiry_ms: approval_expiry_ms.value,
  };
}
