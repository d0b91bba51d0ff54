import { heavyImports } from "./causes.js";
import type { PackageUse } from "./package-use.js";
import { suggestBudget } from "./suggestion.js";

/**
 * The budget that every piece of advice names after a program ran out of fuel: twice what it had, or what its packages need by
 * the table if that is more.
 */
export function sufficientBudget(budget: number, uses: readonly PackageUse[]): number {
  const needs = heavyImports(uses, budget).map((use) => use.figure?.first?.most ?? 0);
  const enough = Math.max(suggestBudget(budget, 2), ...needs.map((most) => suggestBudget(most, 2)));
  const together = needs.reduce((sum, most) => sum + most, 0);
  return together > enough ? suggestBudget(together, 1.5) : enough;
}
