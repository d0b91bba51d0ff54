import { writeFuel, writeRange } from "./fuel-amount.js";
import { costOf, isHeavy, type PackageUse } from "./package-use.js";
import { exceeds } from "./share.js";

export const DATA_PROCESSING = "Complex data processing or large dataset detected";
const MULTIPLE_IMPORTS = "Multiple package imports (cumulative fuel cost)";

/** More than this part of the budget without a heavy import to explain it is taken for work on data. */
const UNEXPLAINED_PERCENT = 70;

/** Where the fuel probably went, from what was imported and what is left without an explanation. */
export function likelyCauses(consumed: number, budget: number, uses: readonly PackageUse[]): readonly string[] {
  const heavy = heavyImports(uses, budget);
  const imported = uses.filter(({ figure, cached }) => figure !== null && !cached);
  const explained = heavy.reduce((sum, use) => sum + costOf(use), 0);
  const rest = Math.max(0, consumed - explained);
  return [
    ...heavy.map((use) => `Heavy package import detected: ${use.name} (${requirementOf(use)})`),
    ...(imported.length > 1 ? [MULTIPLE_IMPORTS] : []),
    ...(exceeds(rest, UNEXPLAINED_PERCENT, budget) ? [DATA_PROCESSING] : []),
  ];
}

/** Nested imports may each look heavy; a handful of them tells the story. */
const MOST_HEAVY = 8;

/** The imports of this execution that took, or by the table take, a good part of the budget. */
export function heavyImports(uses: readonly PackageUse[], budget: number): readonly PackageUse[] {
  return uses.filter((use) => isHeavy(use, budget)).slice(0, MOST_HEAVY);
}

function requirementOf(use: PackageUse): string {
  const range = use.figure?.first ?? null;
  return range === null ? `used ${writeFuel(costOf(use))} fuel` : `requires ${writeRange(range)} fuel`;
}
