import { DATA_PROCESSING, heavyImports } from "./causes.js";
import { DOCS } from "./docs.js";
import type { ErrorFacts } from "./facts.js";
import { settle } from "./fuel.js";
import { writeFuel, writeNumeral, writeRange } from "./fuel-amount.js";
import { costOf, packageUses } from "./package-use.js";
import { PACKAGES } from "./packages.js";
import type { ErrorGuidance } from "./result.js";
import { sufficientBudget } from "./sufficient-budget.js";

/** For an execution that ran out of fuel. It names the same causes and the same budget as `fuel_analysis`. */
export function outOfFuel(facts: ErrorFacts): ErrorGuidance {
  const { budget, language } = facts;
  const enough = sufficientBudget(budget, packageUses(settle(facts)));
  return {
    error_type: "OutOfFuel",
    error_message: "Execution trapped: OutOfFuel",
    actionable_guidance: [
      `Code exceeded ${writeFuel(budget)} instruction budget`,
      `Likely cause: ${causeOf(facts)}`,
      "Solution 1: Simplify code or use lighter alternatives",
      "Solution 2: Create session with higher fuel budget",
      ...(enough === 0 ? [] : [`Example: create_session(language='${language}', fuel_budget=${writeNumeral(enough)})`]),
      "See fuel_analysis for consumption, likely causes and a suggested budget",
    ],
    related_docs: [DOCS.fuel[language]],
  };
}

/** The imports that took the fuel; where nobody watched and nothing was read about any, those that would. */
function causeOf(facts: ErrorFacts): string {
  const heavy = heavyImports(packageUses(settle(facts)), facts.budget).map((use) => {
    const range = use.figure?.first ?? null;
    return `${use.name} ${range === null ? writeFuel(costOf(use)) : writeRange(range)}`;
  });
  const named = heavy.length > 0 || facts.imports !== undefined ? heavy : heavyByTable(facts);
  return named.length > 0 ? `Heavy package imports (${named.join(", ")})` : DATA_PROCESSING;
}

function heavyByTable({ language, packages = PACKAGES, budget }: ErrorFacts): readonly string[] {
  if (language !== "python") return [];
  return packages.flatMap(({ name, first }) =>
    first !== null && first.most >= budget / 20 ? [`${name} ${writeRange(first)}`] : [],
  );
}
