import type { PackageFigure } from "./package-figure.js";

/**
 * The packages that sessions know by name, with what their imports consume when they are compiled: measured with the guest that
 * needs nothing but npm, and rounded outwards to two digits. `node bench/dist/sandbox/figures.js --write` measures them again.
 * A figure that has not been measured is null rather than guessed: the analysis then goes by what the import at hand consumed.
 */
export const PACKAGES: readonly PackageFigure[] = [
  {
    name: "openpyxl",
    modules: ["openpyxl"],
    needs: ["et_xmlfile"],
    first: { least: 2_400_000_000, most: 2_500_000_000 },
    cached: { least: 85_000, most: 440_000 },
  },
  {
    name: "PyPDF2",
    modules: ["PyPDF2"],
    needs: [],
    first: { least: 870_000_000, most: 880_000_000 },
    cached: { least: 88_000, most: 260_000 },
  },
  {
    name: "jinja2",
    modules: ["jinja2"],
    needs: ["markupsafe"],
    first: { least: 680_000_000, most: 740_000_000 },
    cached: { least: 87_000, most: 330_000 },
  },
  {
    name: "markupsafe",
    modules: ["markupsafe"],
    needs: [],
    first: { least: 85_000_000, most: 86_000_000 },
    cached: { least: 88_000, most: 200_000 },
  },
  {
    name: "et_xmlfile",
    modules: ["et_xmlfile"],
    needs: [],
    first: { least: 55_000_000, most: 56_000_000 },
    cached: { least: 88_000, most: 150_000 },
  },
  {
    name: "python-dateutil",
    modules: ["dateutil"],
    needs: ["six"],
    first: { least: 3_700_000, most: 200_000_000 },
    cached: { least: 88_000, most: 380_000 },
  },
  {
    name: "six",
    modules: ["six"],
    needs: [],
    first: { least: 34_000_000, most: 36_000_000 },
    cached: { least: 85_000, most: 170_000 },
  },
  {
    name: "tabulate",
    modules: ["tabulate"],
    needs: [],
    first: { least: 68_000_000, most: 69_000_000 },
    cached: { least: 89_000, most: 140_000 },
  },
  {
    name: "PyYAML",
    modules: ["yaml"],
    needs: [],
    first: { least: 420_000_000, most: 430_000_000 },
    cached: { least: 86_000, most: 200_000 },
  },
  {
    name: "markdown",
    modules: ["markdown"],
    needs: [],
    first: { least: 330_000_000, most: 360_000_000 },
    cached: { least: 87_000, most: 400_000 },
  },
];
