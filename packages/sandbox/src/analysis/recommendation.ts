import { heavyImports } from "./causes.js";
import type { FuelFacts } from "./facts.js";
import { writeFuel, writeRange } from "./fuel-amount.js";
import { costOf, isHeavy, type PackageUse } from "./package-use.js";
import type { FuelStatus } from "./result.js";
import { percentOf } from "./share.js";
import { sufficientBudget } from "./sufficient-budget.js";
import { type Factor, suggestBudget } from "./suggestion.js";

const CACHED = "Fuel usage low due to cached imports from previous executions in this session.";
const SESSION = "Consider using persistent session with auto_persist_globals=True to cache imports across executions";

/**
 * What to do next time, as sentences: about the band, about the budget, about packages and about the session. Null when
 * there is nothing to say, as for most executions that used less than half of their budget.
 */
export function recommend(facts: FuelFacts, status: FuelStatus, uses: readonly PackageUse[]): string | null {
  const sentences = [
    ...bandSentences(facts, status, uses),
    ...(status === "exhausted" ? packageSentences(facts, uses) : []),
    ...(facts.trap === null ? importSentences(facts, uses) : []),
    ...(isRepeated(facts, uses) ? [SESSION] : []),
  ];
  if (sentences.length === 0) return null;
  return sentences.map((sentence, at) => (at < sentences.length - 1 ? withStop(sentence) : sentence)).join(" ");
}

/** A band without a factor is not close enough to its limit to need another budget. */
const FACTORS: Readonly<Record<FuelStatus, Factor | null>> = {
  efficient: null,
  moderate: null,
  warning: 1.5,
  critical: 2,
  exhausted: 2,
};

function bandSentences(
  { consumed, budget }: FuelFacts,
  status: FuelStatus,
  uses: readonly PackageUse[],
): readonly string[] {
  const percent = Math.floor(percentOf(consumed, budget));
  const factor = FACTORS[status];
  const usual = factor === null ? 0 : suggestBudget(consumed, factor);
  const enough = status === "exhausted" ? sufficientBudget(budget, uses) : usual;
  const amount = writeFuel(enough);
  const sentences: Record<FuelStatus, readonly string[]> = {
    efficient: [],
    moderate: [`Code used ${percent}% of fuel budget - acceptable for current workload`],
    warning: [
      `Code used ${percent}% of fuel budget. Consider increasing budget to ${amount}+ instructions for similar workloads to avoid exhaustion.`,
    ],
    critical: [
      `CRITICAL: Code used ${percent}% of fuel budget. Increase budget to at least ${amount} instructions for future executions to prevent OutOfFuel errors.`,
    ],
    exhausted: ["Execution exceeded budget. See error_guidance for solutions."],
  };
  if (factor === null || consumed === 0) return sentences[status];
  return [
    ...sentences[status],
    `Consider increasing budget to ${amount} instructions (${enough === usual ? factor : timesOf(enough, consumed)}x current consumption).`,
  ];
}

/** How many times one is the other, with one decimal at most. */
function timesOf(amount: number, consumed: number): number {
  return Math.round((10 * amount) / consumed) / 10;
}

/** What the packages need by the table, beside the budget that suffices for all of them. */
function packageSentences({ budget }: FuelFacts, uses: readonly PackageUse[]): readonly string[] {
  const enough = writeFuel(sufficientBudget(budget, uses));
  return heavyImports(uses, budget).flatMap(({ name, figure }) => {
    if (figure === null || figure.first === null) return [];
    return [
      `${name} requires ${writeRange(figure.first)} fuel for first import. Increase budget to ${enough}+ for reliable ${name} usage.`,
    ];
  });
}

/** Not after a trap: the session goes back to where it was, and the imports with it. */
function importSentences(facts: FuelFacts, uses: readonly PackageUse[]): readonly string[] {
  const first = heavyImports(uses, facts.budget).filter((use) => use.watched && use.first);
  return [...first.map((use) => firstImport(use, facts)), ...(isLowByCache(facts, uses) ? [CACHED] : [])];
}

function firstImport(use: PackageUse, { autoPersistGlobals }: FuelFacts): string {
  const verb = use.measured === null ? "requires" : "consumed";
  const amount = use.measured ?? use.figure?.first?.most ?? costOf(use);
  const cached = use.figure?.cached ?? null;
  const later = cached === null ? "almost no fuel" : `<${writeFuel(cached.most)} fuel`;
  const condition = autoPersistGlobals === true ? "" : " in a session with auto_persist_globals=True";
  return `First import of ${use.name} ${verb} ${writeFuel(amount)} fuel. Subsequent imports will use ${later} due to caching${condition}.`;
}

/** Whether the imports alone would have consumed more than everything did, had the session not had them. */
function isLowByCache({ consumed, budget }: FuelFacts, uses: readonly PackageUse[]): boolean {
  const cached = uses.filter((use) => use.cached && !isHeavy(use, budget));
  const saved = cached.reduce((sum, { earlier, figure }) => sum + (earlier ?? figure?.first?.least ?? 0), 0);
  return saved > consumed && saved >= budget / 20;
}

function isRepeated({ budget, autoPersistGlobals }: FuelFacts, uses: readonly PackageUse[]): boolean {
  return autoPersistGlobals !== true && heavyImports(uses, budget).some(({ first }) => !first);
}

function withStop(sentence: string): string {
  return sentence.endsWith(".") ? sentence : `${sentence}.`;
}
