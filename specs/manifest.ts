import { readFileSync } from "node:fs";
import { type LineRange, parseLines } from "./lines.js";
import { fuelBudgetAnalysis } from "./manifest/000.js";
import { errorGuidance } from "./manifest/001.js";
import { budgetController } from "./manifest/002.js";
import { promptBudget } from "./manifest/003.js";
import { resourceBudgetEnforcement } from "./manifest/004.js";
import type { Entry } from "./manifest/entry.js";
import { titleOf } from "./title.js";

/** One of the texts the product is held to, with what its lines demand. */
export interface Spec {
  readonly number: string;
  readonly file: string;
  /** The text was fixed once; a change to it is a change of the product and has to be made on purpose. */
  readonly sha256: string;
  readonly text: string;
  readonly requirements: readonly Requirement[];
}

/** One demand of one text, small enough that a test can prove it. */
export interface Requirement {
  readonly id: string;
  readonly lines: readonly LineRange[];
  readonly title: string;
}

/** Every id there is, so that a test citing a wrong one does not compile. */
export type RequirementId =
  | (typeof fuelBudgetAnalysis)[number][0]
  | (typeof errorGuidance)[number][0]
  | (typeof budgetController)[number][0]
  | (typeof promptBudget)[number][0]
  | (typeof resourceBudgetEnforcement)[number][0];

export const specs: readonly Spec[] = [
  readSpec(
    "000-fuel-budget-analysis.md",
    "f6928134aa8072f3ffc011ea3e2f896c12e0a823e46d3ac183a029e76e139e59",
    fuelBudgetAnalysis,
  ),
  readSpec("001-error-guidance.md", "2cddd4a861f5a314cb84e48f34f1947e61c61b554c388cc2263039b0d00d7f4a", errorGuidance),
  readSpec(
    "002-budget-controller.md",
    "3059272d9bd9a7e9f550bb3ae3d745a56ee8bcdd34c3a1ff344a9c21adc6b250",
    budgetController,
  ),
  readSpec("003-prompt-budget.md", "f6b024110ba1a7fc44b0679b147e1eba147deee9b800b1ac3fecfc65e8772bd5", promptBudget),
  readSpec(
    "004-resource-budget-enforcement.md",
    "38572ef1355d54e6e7b7e0e6e24ae1f6b7ea00deb293a90f324dc947a3acba81",
    resourceBudgetEnforcement,
  ),
];

export const requirements: readonly Requirement[] = specs.flatMap((spec) => spec.requirements);

const byId: ReadonlyMap<string, Requirement> = new Map(requirements.map((each) => [each.id, each]));

/** Throws for an unknown id: a test that proves nothing must not pass for a proof. */
export function requirement(id: string): Requirement {
  const found = byId.get(id);
  if (found === undefined) {
    throw new Error(`"${id}" is no requirement; the known ids are in specs/manifest/, one file for each text`);
  }
  return found;
}

function readSpec(file: string, sha256: string, entries: readonly Entry[]): Spec {
  const text = readFileSync(new URL(file, import.meta.url), "utf8");
  const textLines = text.split("\n");
  return {
    number: file.slice(0, 3),
    file: `specs/${file}`,
    sha256,
    text,
    requirements: entries.map(([id, written]) => {
      const lines = parseLines(written);
      return { id, lines, title: titleOf(textLines[(lines[0]?.[0] ?? 0) - 1] ?? "") };
    }),
  };
}
