import { type Amounts, NONE } from "./amount.js";
import { type Budget, type BudgetId, covers, DEADLINE, type Path, type Scope, usedOf } from "./budget.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { type ExhaustionPolicy, POLICIES } from "./policy.js";
import { type Term, termsOf } from "./terms.js";
import type { Time } from "./time.js";

/**
 * Why a call does not fit. `busy`: it would, once the holds now in flight are settled. `too_large`: something is left,
 * but less than it asks for. `exhausted`: nothing is left.
 */
export type Refusal = "busy" | "too_large" | "exhausted";

/** One dimension of one budget that does not take the call. */
export interface Finding {
  readonly budget: BudgetId;
  readonly scope: Scope;
  /** A dimension's id, or `deadline`. */
  readonly dimension: string;
  readonly refusal: Refusal;
  readonly policy: ExhaustionPolicy;
  readonly asked: number;
  readonly used: number;
  readonly reserved: number;
  readonly limit: number;
}

/**
 * The answer to a call, by its most severe finding; the others stand behind it in order of severity.
 * - `admitted`: it may go on; what is found has a policy that only warns.
 * - `busy`: it has to wait for holds in flight. No exhaustion, no policy.
 * - `refused`: too large for what a shared budget has left; only this call is affected.
 * - `paused`: a human has to extend the budget.
 * - `stopped`: the run is over.
 */
export type Decision = {
  readonly kind: "admitted" | "busy" | "refused" | "paused" | "stopped";
  readonly findings: readonly Finding[];
};

const SEVERITY: readonly Decision["kind"][] = ["stopped", "paused", "refused", "busy", "admitted"];

/**
 * Evaluates every limited dimension of every budget on the path. Pure: it neither reserves nor records. What is `inner` is a part of
 * a call that was admitted before.
 */
export function decide(path: Path, asked: Amounts, time: Time, dimensions: Dimensions, inner = false): Decision {
  const findings: Finding[] = [];
  // Only where something below is held can there be a payer, and nearly nowhere is.
  const payers: Budget[] = [];
  let below: Budget | null = null;
  for (const budget of path) {
    for (const term of termsOf(budget, dimensions)) {
      const finding = examineFrom(below, payers, budget, term, asked[term.id] ?? NONE, inner, time);
      if (finding !== null) findings.push(finding);
    }
    const late = budget.deadline === null ? null : examineDeadline(budget, time);
    if (late !== null) findings.push(late);
    if (budget.funding !== "path") payers.push(budget);
    below = budget;
  }
  // Ties are reported in the table's order; a deadline, which is not in it, comes first.
  if (findings.length > 1) {
    findings.sort((a, b) => severity(a) - severity(b) || dimensions.rank(a.dimension) - dimensions.rank(b.dimension));
  }
  const worst = findings[0];
  return { kind: worst === undefined ? "admitted" : answer(worst), findings };
}

/** A budget as it is seen by a call that comes from below. */
function examineFrom(
  below: Budget | null,
  payers: Path,
  budget: Budget,
  term: Term,
  asked: number,
  inner: boolean,
  time: Time,
): Finding | null {
  // Time is not held: it passes on the whole path. A final answer may use the time set aside for it.
  if (term.dimension.kind === "clock") return examine(budget, term, asked, inner, time, below?.funding === "aside");
  const payer = payers.length === 0 ? undefined : payers.find((lower) => covers(lower, term.id));
  // What is held for a budget is there for it, but not once the exhaustion of the one that holds it is on record. Only
  // the wrap-up reserve is exempt.
  const spent = asked > 0 && term.exhausted && payer?.funding !== "aside";
  return payer === undefined || spent ? examine(budget, term, asked, inner, time, false) : null;
}

/**
 * The finding that a person is asked about: of several budgets that the same stands in the way of, the outermost, because inner ones
 * find no room before that one is extended. Undefined where nothing is found.
 */
export function outermost({ findings }: Pick<Decision, "findings">): Finding | undefined {
  const [worst] = findings;
  if (worst === undefined) return undefined;
  // Those of one dimension stand in the order of the path. One that is only busy now is none to ask about.
  return findings.findLast((each) => each.dimension === worst.dimension && severity(each) === severity(worst));
}

/** Whether a finding counts as an exhaustion: it is recorded, and it sticks. */
export function exhausts(finding: Finding): boolean {
  if (finding.refusal === "exhausted") return true;
  return finding.refusal === "too_large" && finding.scope === "run" && finding.policy !== "soft_warn";
}

function examine(
  budget: Budget,
  term: Term,
  asked: number,
  inner: boolean,
  time: Time,
  wrappingUp: boolean,
): Finding | null {
  const { id, dimension, policy } = term;
  const used = usedOf(budget, dimension, time);
  const reserved = budget.reserved[id] ?? NONE;
  const limit = wrappingUp ? term.limit : term.cap;
  const sticky = !wrappingUp && term.exhausted;
  const refusal = refuse(dimension.kind, { asked, inner, used, reserved, limit, sticky });
  if (refusal === null || (refusal === "busy" && policy === "soft_warn")) return null;
  return { budget: budget.id, scope: budget.scope, dimension: id, refusal, policy, asked, used, reserved, limit };
}

interface Position {
  readonly asked: number;
  readonly inner: boolean;
  readonly used: number;
  readonly reserved: number;
  readonly limit: number;
  readonly sticky: boolean;
}

/** The rule of admission, for one dimension of one budget. */
function refuse(kind: Dimension["kind"], { asked, inner, used, reserved, limit, sticky }: Position): Refusal | null {
  if (sticky) return "exhausted";
  switch (kind) {
    case "clock":
      return used >= limit ? "exhausted" : null;
    case "peak":
      if (used > limit) return "exhausted";
      return asked > limit ? "too_large" : null;
    case "sum": {
      // A limit of 0 is no exhaustion by itself: it refuses only calls that ask for the dimension.
      const untouched = limit === 0 && used === 0 && asked === 0;
      if (used >= limit && !untouched) return "exhausted";
      if (used + asked > limit) return "too_large";
      return used + reserved + Math.max(asked, untouched || inner ? 0 : 1) > limit ? "busy" : null;
    }
  }
}

/** A deadline that has passed, as a finding. */
export function examineDeadline(budget: Budget, time: Time): Finding | null {
  if (budget.deadline === null) return null;
  // Sticky like every exhaustion: setting the wall clock back does not bring the time back.
  if (time.instant < budget.deadline && !budget.exhausted.includes(DEADLINE)) return null;
  return {
    budget: budget.id,
    scope: budget.scope,
    dimension: DEADLINE,
    refusal: "exhausted",
    policy: "hard_stop",
    asked: 0,
    used: time.instant,
    reserved: 0,
    limit: budget.deadline,
  };
}

function answer(finding: Finding): Decision["kind"] {
  if (finding.policy === "soft_warn") return "admitted";
  if (finding.refusal === "busy") return "busy";
  if (finding.refusal === "too_large" && finding.scope === "shared") return "refused";
  return finding.policy === "hard_stop" ? "stopped" : "paused";
}

function severity(finding: Finding): number {
  return SEVERITY.indexOf(answer(finding)) * POLICIES.length + POLICIES.indexOf(finding.policy);
}
