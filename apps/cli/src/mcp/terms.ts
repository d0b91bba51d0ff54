import {
  type Bursar,
  InputError,
  type Preflight,
  type Principal,
  RunError,
  type RunRecord,
  type StartOptions,
} from "bursar";
import { ConfigError, type Configuration, type EffectiveBudget, effectiveBudget } from "bursar/config";
import { openShared, sharedTerms } from "../runs/shared.js";
import { isDeciding, type RunWish } from "./options.js";

/** Starts runs with the budget that the configuration gives them; whoever is no operator may only tighten it. */
export function startingBy(
  bursar: Bursar,
  config: Configuration,
): (wish: RunWish, by: Principal) => Promise<RunRecord> {
  return async (wish, by) => {
    const budget = budgetFor(bursar, config, wish, by);
    const { session } = await openShared(bursar.store, budget.shared, false, [...config.sessions.keys()]);
    const { program, input } = wish;
    return bursar.start(program, input, { ...optionsOf(budget, wish), ...(session !== null && { session }), by });
  };
}

/** Tells what such a run would take. Nothing is opened for it. */
export function estimatingBy(
  bursar: Bursar,
  config: Configuration,
): (wish: RunWish, by: Principal) => Promise<Preflight> {
  return async (wish, by) => {
    const budget = budgetFor(bursar, config, wish, by);
    const options = optionsOf(budget, wish);
    const shared = await sharedTerms(bursar.store, budget.shared, options.limits ?? {}, [...config.sessions.keys()]);
    return bursar.estimate(wish.program, wish.input, { ...options, ...shared, by });
  };
}

function budgetFor(bursar: Bursar, config: Configuration, wish: RunWish, by: Principal): EffectiveBudget {
  const { program, limits = {}, policies = {}, session } = wish;
  const answer = asInput(() =>
    effectiveBudget({
      ...{ config, agent: bursar.governedName(program, by), authority: isDeciding(by) ? "operator" : "agent" },
      session: session === undefined ? null : { name: session, limits: {} },
      override: { limits: limits as Record<string, number | null>, policies, from: "the client" },
    }),
  );
  if (answer.kind === "refused") {
    throw new RunError("forbidden", answer.refusals.map(({ message }) => message).join("; "));
  }
  return answer.budget;
}

function optionsOf(
  { opening, wrap_up, approval_expiry_ms }: EffectiveBudget,
  { id, preflight }: RunWish,
): StartOptions {
  return {
    ...{ limits: opening.limits, policies: opening.policies, approval_ms: approval_expiry_ms.value },
    ...(opening.thresholds !== undefined && { thresholds: opening.thresholds }),
    ...(wrap_up !== null && { wrap_up }),
    ...(id !== undefined && { id }),
    ...(preflight !== undefined && { preflight }),
  };
}

/** What is wrong with limits that a client has sent is wrong with what it has sent, not with the configuration. */
function asInput<Answer>(ask: () => Answer): Answer {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const [, field = "limits", problem = ""] = /^(\S+) (.*)$/s.exec(error.message.replaceAll("override.", "")) ?? [];
    throw new InputError(field, problem);
  }
}
