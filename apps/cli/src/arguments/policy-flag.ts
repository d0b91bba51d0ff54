import type { Effective } from "bursar/config";
import { UsageError } from "../app/errors.js";

/** What a run gets, or why not. A policy that is not there was mistyped: files that name such a one are refused as a whole. */
export function understood(answer: Effective): Effective {
  const [first] = answer.kind === "refused" ? answer.refusals : [];
  if (first?.code === "unknown_policy") throw new UsageError(`--policy: ${first.message}`);
  return answer;
}
