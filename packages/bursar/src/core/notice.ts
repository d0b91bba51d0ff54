import { type Budget, type BudgetId, capOf, limitOf, type Path, usedOf } from "./budget.js";
import { percentOf } from "./decimal.js";
import { exhausts, type Finding, limited } from "./decision.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import type { ExhaustionPolicy } from "./policy.js";
import type { Time } from "./time.js";

/** Something a budget has to tell, once: a threshold crossed or a dimension exhausted. Amounts are in ledger units. */
export interface Notice {
  readonly kind: "Warning" | "Exhausted";
  readonly budget: BudgetId;
  readonly dimension: string;
  /** The threshold for a warning, 100 for an exhaustion. */
  readonly percent: number;
  readonly policy: ExhaustionPolicy;
  readonly consumed: number;
  readonly limit: number;
}

export interface Noticed {
  readonly path: Path;
  readonly notices: readonly Notice[];
}

/** Looks at every limited dimension of a path and tells what has not been told yet, thresholds in ascending order. */
export function notice(path: Path, time: Time, dimensions: Dimensions): Noticed {
  const notices: Notice[] = [];
  const next = path.map((budget) => {
    const warned: Record<string, number> = {};
    const exhausted: string[] = [];
    for (const dimension of limited(budget, dimensions)) {
      const used = usedOf(budget, dimension, time);
      const before = budget.warned[dimension.id] ?? 0;
      const after = Math.max(before, crossed(budget, dimension, used));
      if (after !== before) warned[dimension.id] = after;
      for (const percent of budget.thresholds.slice(before, after)) {
        notices.push(tell(budget, dimension, "Warning", percent, used));
      }
      if (overdrawn(budget, dimension, used) && !budget.exhausted.includes(dimension.id)) {
        exhausted.push(dimension.id);
        notices.push(tell(budget, dimension, "Exhausted", 100, used));
      }
    }
    if (exhausted.length === 0 && Object.keys(warned).length === 0) return budget;
    return {
      ...budget,
      warned: { ...budget.warned, ...warned },
      exhausted: [...budget.exhausted, ...exhausted],
    };
  });
  return { path: next, notices };
}

/** Records the exhaustions among the findings of a decision, each once. */
export function record(path: Path, findings: readonly Finding[]): Noticed {
  const notices: Notice[] = [];
  const next = path.map((budget) => {
    const fresh = findings.filter(
      (finding) => finding.budget === budget.id && exhausts(finding) && !budget.exhausted.includes(finding.dimension),
    );
    if (fresh.length === 0) return budget;
    for (const { dimension, policy, used, limit } of fresh) {
      notices.push({ kind: "Exhausted", budget: budget.id, dimension, percent: 100, policy, consumed: used, limit });
    }
    return { ...budget, exhausted: [...budget.exhausted, ...fresh.map(({ dimension }) => dimension)] };
  });
  return { path: next, notices };
}

/** How many thresholds lie at or below what is used. A limit of 0 has none: there is nothing to warn of. */
export function crossed(budget: Budget, dimension: Dimension, used: number): number {
  const limit = limitOf(budget, dimension.id);
  if (limit === 0) return 0;
  const above = budget.thresholds.findIndex((percent) => used < percentOf(limit, percent));
  return above === -1 ? budget.thresholds.length : above;
}

/** Landing on the limit is legal for what is counted; a clock that has reached it has run out. */
function overdrawn(budget: Budget, dimension: Dimension, used: number): boolean {
  const cap = capOf(budget, dimension.id);
  return dimension.kind === "clock" ? used >= cap : used > cap;
}

function tell(budget: Budget, dimension: Dimension, kind: Notice["kind"], percent: number, consumed: number): Notice {
  const { id, defaultPolicy } = dimension;
  const policy = budget.policies[id] ?? defaultPolicy;
  return { kind, budget: budget.id, dimension: id, percent, policy, consumed, limit: limitOf(budget, id) };
}
