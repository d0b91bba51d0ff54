import { type Bursar, type Principal, RunError, type RunRecord } from "bursar";
import { type Configuration, effectiveBudget } from "bursar/config";
import { openShared } from "../runs/shared.js";
import { isDeciding, type RunWish } from "./options.js";

/** Starts runs with the budget that the configuration gives them; whoever is no operator may only tighten it. */
export function startingBy(
  bursar: Bursar,
  config: Configuration,
): (wish: RunWish, by: Principal) => Promise<RunRecord> {
  return async ({ program, input, limits = {}, policies = {}, session, id }, by) => {
    const answer = effectiveBudget({
      ...{ config, agent: program.name, authority: isDeciding(by) ? "operator" : "agent" },
      session: session === undefined ? null : { name: session, limits: {} },
      override: { limits: limits as Record<string, number | null>, policies, from: "the client" },
    });
    if (answer.kind === "refused") {
      throw new RunError("forbidden", answer.refusals.map(({ message }) => message).join("; "));
    }
    const { opening, wrap_up, shared, approval_expiry_ms } = answer.budget;
    const place = await openShared(bursar.store, shared, false);
    return bursar.start(program, input, {
      ...{ limits: opening.limits, policies: opening.policies, approval_ms: approval_expiry_ms.value },
      ...(opening.thresholds !== undefined && { thresholds: opening.thresholds }),
      ...(wrap_up !== null && { wrap_up }),
      ...(id !== undefined && { id }),
      ...(place.session !== null && { session: place.session }),
      by,
    });
  };
}
