import {
  type BudgetLimits,
  type BudgetPolicies,
  type Bursar,
  type ExecutionHints,
  type Json,
  type Preflight,
  type PreflightPolicy,
  type Principal,
  type Program,
  RunError,
  type RunRecord,
  type StartOptions,
} from "bursar";
import { type Configuration, effectiveBudget, type SharedOpening } from "bursar/config";
import { isDeciding } from "../roles.js";
import { openShared, sharedTerms } from "./shared-budgets.js";

/** What is asked for with a run. */
export interface RunWish {
  /** A name of its own: started again under the same, it is the same run. */
  readonly id?: string;
  readonly program: Program;
  readonly input: Json;
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
  readonly session?: string;
  /** What becomes of it when it is expected not to fit. */
  readonly preflight?: PreflightPolicy;
  readonly hints?: ExecutionHints;
}

/** Starts runs below the budgets that the configuration names; what they get themselves, `bursar` knows from its governance. */
export function startingBy(
  bursar: Bursar,
  config: Configuration,
): (wish: RunWish, by: Principal) => Promise<RunRecord> {
  return async (wish, by) => {
    const { program, input } = wish;
    const { session } = await openShared(bursar.store, sharedFor(config, wish, by), false, [...config.sessions.keys()]);
    return bursar.start(program, input, { ...optionsOf(wish), ...(session !== null && { session }), by });
  };
}

/** Tells what such a run would take. Nothing is opened for it. */
export function estimatingBy(
  bursar: Bursar,
  config: Configuration,
): (wish: RunWish, by: Principal) => Promise<Preflight> {
  return async (wish, by) => {
    const shared = await sharedTerms(bursar.store, sharedFor(config, wish, by), [...config.sessions.keys()]);
    return bursar.estimate(wish.program, wish.input, { ...optionsOf(wish), ...shared, by });
  };
}

/** An operator's program may say what its session is opened with; an agent's would choose the limits of all that come after it. */
function sharedFor(config: Configuration, { program, session }: RunWish, by: Principal): readonly SharedOpening[] {
  const limits = isDeciding(by) ? (program.terms?.session_limits ?? {}) : {};
  const named = session === undefined ? null : { name: session, limits };
  const answer = effectiveBudget({ config, authority: "operator", session: named });
  if (answer.kind === "effective") return answer.budget.shared;
  throw new RunError("forbidden", answer.refusals.map(({ message }) => message).join("; "));
}

function optionsOf({ program: _, input: __, session: ___, ...options }: RunWish): StartOptions {
  return options;
}
