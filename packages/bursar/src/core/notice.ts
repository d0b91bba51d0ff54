import { NONE } from "./amount.js";
import { type Budget, type BudgetId, capOf, limitOf, type Path, usedOf } from "./budget.js";
import { percentOf } from "./decimal.js";
import { examineDeadline, exhausts, type Finding } from "./decision.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import type { ExhaustionPolicy } from "./policy.js";
import { overdraft, termsOf } from "./terms.js";
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
  // Copied only when something is told, which few calls bring about.
  let next: Budget[] | null = null;
  for (let level = 0; level < path.length; level++) {
    const budget = path[level] as Budget;
    for (const { id, dimension, mark } of termsOf(budget, dimensions)) {
      const used = dimension.kind === "clock" ? usedOf(budget, dimension, time) : (budget.used[id] ?? NONE);
      if (used < mark) continue;
      next ??= [...path];
      next[level] = tellOf(next[level] as Budget, dimension, used, notices);
    }
  }
  return { path: next ?? path, notices };
}

function tellOf(budget: Budget, dimension: Dimension, used: number, notices: Notice[]): Budget {
  const { id } = dimension;
  const before = budget.warned[id] ?? 0;
  const after = Math.max(before, crossed(budget, dimension, used));
  for (const percent of budget.thresholds.slice(before, after)) {
    notices.push(tell(budget, dimension, "Warning", percent, used));
  }
  const warned = { ...budget.warned, [id]: after };
  if (!overdrawn(budget, dimension, used) || budget.exhausted.includes(id)) return { ...budget, warned };
  notices.push(tell(budget, dimension, "Exhausted", 100, used));
  return { ...budget, warned, exhausted: [...budget.exhausted, id] };
}

/** Records the exhaustions among the findings of a decision, each once. */
export function record(path: Path, findings: readonly Finding[]): Noticed {
  const notices: Notice[] = [];
  if (findings.length === 0) return { path, notices };
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

/** Records the deadlines that have passed while a call was being made, each once. */
export function noticeDeadlines(path: Path, time: Time): Noticed {
  const late: Finding[] = [];
  for (const budget of path) {
    if (budget.deadline === null) continue;
    const finding = examineDeadline(budget, time);
    if (finding !== null) late.push(finding);
  }
  return record(path, late);
}

/** How many thresholds lie at or below what is used. A limit of 0 has none: there is nothing to warn of. */
export function crossed(budget: Budget, dimension: Dimension, used: number): number {
  const limit = limitOf(budget, dimension.id);
  if (limit === 0) return 0;
  const above = budget.thresholds.findIndex((percent) => used < percentOf(limit, percent));
  return above === -1 ? budget.thresholds.length : above;
}

function overdrawn(budget: Budget, dimension: Dimension, used: number): boolean {
  return used >= overdraft(dimension, capOf(budget, dimension.id));
}

function tell(budget: Budget, dimension: Dimension, kind: Notice["kind"], percent: number, consumed: number): Notice {
  const { id, defaultPolicy } = dimension;
  const policy = budget.policies[id] ?? defaultPolicy;
  return { kind, budget: budget.id, dimension: id, percent, policy, consumed, limit: limitOf(budget, id) };
}
