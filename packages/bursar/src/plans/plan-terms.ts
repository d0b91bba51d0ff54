import type { ProgramTerms } from "../ports/program.js";
import type { Plan } from "./plan.js";

/** What a plan says of its own budget, as its program carries it; null when it says nothing. */
export function planTerms({ budget, session, file }: Pick<Plan, "budget" | "session" | "file">): ProgramTerms | null {
  const { limits = {}, policies = {} } = budget ?? {};
  const terms = {
    ...(Object.keys(limits).length > 0 && { limits }),
    ...(Object.keys(policies).length > 0 && { policies }),
    ...(session !== null && { session_limits: session.limits }),
  };
  return Object.keys(terms).length === 0 ? null : { ...terms, from: file.slice(file.lastIndexOf("/") + 1) };
}
