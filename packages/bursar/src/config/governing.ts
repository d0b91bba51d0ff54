import { writeAmount } from "../core/dimension.js";
import { InputError } from "../core/errors.js";
import type { BudgetAmounts, BudgetLimits, BudgetPolicies } from "../core/input.js";
import type { Configuration } from "./configuration.js";
import { type EffectiveBudget, type EffectiveLimit, effectiveBudget } from "./effective.js";
import { printCeiling, printOrigin } from "./origin.js";

/** What a configuration gives to the runs of a program. `openBursar` takes it as what its `governance` answers. */
export interface GoverningTerms {
  readonly limits: BudgetLimits;
  readonly policies: BudgetPolicies;
  readonly ceilings: BudgetLimits;
  readonly wrap_up: BudgetAmounts;
  readonly thresholds: readonly number[];
  readonly approval_ms: number;
  /** Who says so, by dimension, for people. */
  readonly origins: Readonly<Record<string, { limit: string; policy: string; ceiling?: string }>>;
}

/**
 * What a configuration gives to the runs of a program, and may not be widened but by an operator, up to the ceilings.
 *
 * @example
 * ```ts
 * const config = loadConfig(null).config;
 * const bursar = openBursar({ store, programs, governance: (agent) => governingTerms(config, { agent }) });
 * ```
 */
export function governingTerms(
  config: Configuration,
  { agent, policy }: { readonly agent?: string | undefined; readonly policy?: string | undefined } = {},
): GoverningTerms {
  const answer = effectiveBudget({ config, agent, policy, authority: "operator" });
  if (answer.kind === "refused")
    throw new InputError("policy", answer.refusals.map(({ message }) => message).join("; "));
  return termsIn(answer.budget);
}

function termsIn({ opening, dimensions, wrap_up, thresholds, approval_expiry_ms }: EffectiveBudget): GoverningTerms {
  const ceilings = dimensions.flatMap(({ dimension, ceiling }) =>
    ceiling === null || ceiling.value === null ? [] : [[dimension.id, writeAmount(dimension, ceiling.value)] as const],
  );
  return {
    limits: opening.limits,
    policies: opening.policies,
    wrap_up: wrap_up ?? {},
    ceilings: Object.fromEntries(ceilings),
    thresholds: thresholds.value,
    approval_ms: approval_expiry_ms.value,
    origins: Object.fromEntries(dimensions.map((each) => [each.dimension.id, originsOf(each)])),
  };
}

function originsOf({ limit, policy, ceiling }: EffectiveLimit): GoverningTerms["origins"][string] {
  const top = ceiling === null ? {} : { ceiling: printCeiling(ceiling.origin) };
  return { limit: printOrigin(limit.origin), policy: printOrigin(policy.origin), ...top };
}
