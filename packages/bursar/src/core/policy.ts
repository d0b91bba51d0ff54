/** What happens when a dimension is exhausted. */
export type ExhaustionPolicy = "hard_stop" | "approval_required" | "soft_warn";

/** Strictest first: the order in which findings are reported, so that a warning never hides an exhaustion. */
export const POLICIES: readonly ExhaustionPolicy[] = ["hard_stop", "approval_required", "soft_warn"];

export type Policies = Readonly<Record<string, ExhaustionPolicy>>;

export function strictest(a: ExhaustionPolicy, b: ExhaustionPolicy): ExhaustionPolicy {
  return POLICIES.indexOf(a) <= POLICIES.indexOf(b) ? a : b;
}
