import type { PackageFigure } from "./package-figure.js";

/**
 * The packages that sessions know by name. A figure that has not been measured is null rather than guessed: the analysis
 * then goes by what the import at hand consumed.
 */
export const PACKAGES: readonly PackageFigure[] = [
  { name: "openpyxl", modules: ["openpyxl"], needs: ["et_xmlfile"], first: null, cached: null },
  { name: "PyPDF2", modules: ["PyPDF2"], needs: [], first: null, cached: null },
  { name: "jinja2", modules: ["jinja2"], needs: ["markupsafe"], first: null, cached: null },
  { name: "markupsafe", modules: ["markupsafe"], needs: [], first: null, cached: null },
  { name: "et_xmlfile", modules: ["et_xmlfile"], needs: [], first: null, cached: null },
  { name: "python-dateutil", modules: ["dateutil"], needs: ["six"], first: null, cached: null },
  { name: "six", modules: ["six"], needs: [], first: null, cached: null },
  { name: "tabulate", modules: ["tabulate"], needs: [], first: null, cached: null },
  { name: "PyYAML", modules: ["yaml"], needs: [], first: null, cached: null },
  { name: "markdown", modules: ["markdown"], needs: [], first: null, cached: null },
];
