import { type JsonObject, type ProgramTerms, STANDARD, writeAmount } from "bursar";
import { type Configuration, effectiveBudget, printOrigin, printProblem } from "bursar/config";
import { configReport } from "../app/config-report.js";

/**
 * What a run gets that an operator starts and says nothing of, and who says so; one of this program, if it is named: then the program's
 * own terms count.
 */
export function configView(config: Configuration, agent?: string, terms: ProgramTerms = {}): JsonObject {
  const answer = effectiveBudget({ config, authority: "operator", ...(agent !== undefined && { agent }) });
  const { file, tightened_by, ignored } = configReport(config);
  const files = { file, tightened_by: [...tightened_by], ignored: ignored.map(printProblem) };
  if (answer.kind === "refused") return { ...files, problems: answer.refusals.map(({ message }) => message) };
  const { dimensions, policy, thresholds, approval_expiry_ms } = answer.budget;
  const { policies: own = {}, session_limits = {}, from = "program" } = terms;
  const limits = readTerms(terms.limits);
  const clamps = readTerms(session_limits);
  return {
    ...files,
    limits: dimensions.map(({ dimension, limit, policy: exhausted }) => {
      const { id } = dimension;
      const usual = limit.value === null ? null : writeAmount(dimension, limit.value);
      const value = limits[id] === undefined ? usual : limits[id];
      const most = clamps[id] ?? null;
      const isClamped = most !== null && (value === null || value > most);
      const isOwn = isClamped || limits[id] !== undefined;
      return {
        dimension: id,
        value: isClamped ? most : value,
        policy: own[id] ?? exhausted.value,
        origin: isOwn ? from : printOrigin(limit.origin),
      };
    }),
    policy: policy?.name ?? null,
    policies: [...config.policies.keys()],
    agents: [...config.agents.keys()],
    sessions: [...config.sessions.keys()],
    thresholds: [...thresholds.value],
    approval_expiry_ms: approval_expiry_ms.value,
  };
}

/** Limits by the ids of their dimensions; null is no limit. */
function readTerms(limits: ProgramTerms["limits"] = {}): Readonly<Record<string, number | null>> {
  return Object.fromEntries(Object.entries(limits).map(([name, limit]) => [STANDARD.resolve(name).id, limit ?? null]));
}
