import type { ErrorFacts, FuelFacts } from "../../src/analysis/facts.js";
import type { PackageFigure } from "../../src/analysis/package-figure.js";

export const B = 1_000_000_000;
export const M = 1_000_000;

/** The figures that the specifications print. The product ships measured ones. */
export const SPEC_TABLE: readonly PackageFigure[] = [
  figure("openpyxl", 5, 7, ["et_xmlfile"]),
  figure("PyPDF2", 5, 6),
  figure("jinja2", 4, 5, ["markupsafe"]),
  { name: "markupsafe", modules: ["markupsafe"], needs: [], first: null, cached: null },
];

function figure(name: string, least: number, most: number, needs: readonly string[] = []): PackageFigure {
  const cached = { least: 1 * M, most: 100 * M };
  return { name, modules: [name], needs, first: { least: least * B, most: most * B }, cached };
}

/** An execution of plain code under 10 billion, unless the test says otherwise. */
export function fuel(facts: Partial<FuelFacts> = {}): FuelFacts {
  return { consumed: 1 * B, budget: 10 * B, trap: null, imports: [], packages: SPEC_TABLE, ...facts };
}

/** A Python program that failed without a trap, unless the test says otherwise. */
export function failed(facts: Partial<ErrorFacts> = {}): ErrorFacts {
  return { ...fuel(), language: "python", exitCode: 1, stderr: "", ...facts };
}
