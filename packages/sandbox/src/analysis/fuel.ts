import { likelyCauses } from "./causes.js";
import type { FuelFacts } from "./facts.js";
import { packageUses } from "./package-use.js";
import { recommend } from "./recommendation.js";
import type { FuelAnalysis, FuelStatus } from "./result.js";
import { percentOf, reaches } from "./share.js";

/**
 * How much of its budget an execution used, why, and what to do next time.
 *
 * ```ts
 * const analysis = analyzeFuel({ consumed: 8_500_000_000, budget: 10_000_000_000, trap: null });
 * analysis.status; // "warning"
 * ```
 */
export function analyzeFuel(facts: FuelFacts): FuelAnalysis {
  const settled = settle(facts);
  const { consumed, budget } = settled;
  const status = statusOf(settled);
  const uses = packageUses(settled);
  return {
    consumed,
    budget,
    utilization_percent: status === "exhausted" ? 100 : percentOf(consumed, budget),
    status,
    recommendation: recommend(settled, status, uses),
    likely_causes: status === "efficient" ? [] : likelyCauses(consumed, budget, uses),
  };
}

/** Checks the figures. An execution that ran out of fuel consumed its budget, whatever the meter's last slice says. */
export function settle(facts: FuelFacts): FuelFacts {
  checkFuel("consumed", facts.consumed);
  checkFuel("budget", facts.budget);
  return facts.trap === "out_of_fuel" ? { ...facts, consumed: facts.budget } : facts;
}

/** The bands are of the exact share: 74.999 % is moderate, however it is printed. */
function statusOf({ consumed, budget, trap }: FuelFacts): FuelStatus {
  if (trap === "out_of_fuel") return "exhausted";
  if (consumed === 0 || !reaches(consumed, 50, budget)) return "efficient";
  if (!reaches(consumed, 75, budget)) return "moderate";
  return reaches(consumed, 90, budget) ? "critical" : "warning";
}

function checkFuel(field: string, fuel: number): void {
  if (Number.isSafeInteger(fuel) && fuel >= 0) return;
  throw new RangeError(
    `${field} is ${String(fuel)}, but fuel is a whole number from 0 to 2^53 - 1; pass the meter's count`,
  );
}
