import type { GuestFuel, ImportFigure } from "../guests/guest-fuel.js";
import { NPM_PYTHON_FUEL } from "../guests/npm-python-fuel.js";
import type { FuelRange, PackageFigure } from "./package-figure.js";

/** The packages that sessions know by name. */
const KNOWN: readonly Pick<PackageFigure, "name" | "modules" | "needs">[] = [
  { name: "openpyxl", modules: ["openpyxl"], needs: ["et_xmlfile"] },
  { name: "PyPDF2", modules: ["PyPDF2"], needs: [] },
  { name: "jinja2", modules: ["jinja2"], needs: ["markupsafe"] },
  { name: "markupsafe", modules: ["markupsafe"], needs: [] },
  { name: "et_xmlfile", modules: ["et_xmlfile"], needs: [] },
  { name: "python-dateutil", modules: ["dateutil"], needs: ["six"] },
  { name: "six", modules: ["six"], needs: [] },
  { name: "tabulate", modules: ["tabulate"], needs: [] },
  { name: "PyYAML", modules: ["yaml"], needs: [] },
  { name: "markdown", modules: ["markdown"], needs: [] },
];

/**
 * The table of packages of one guest, with what their imports consume there; of those that are not compiled for it, it is several
 * times as much. A figure that was not measured on that guest is null rather than another guest's: the analysis then goes by what
 * the import at hand consumed.
 */
export function packageTable(fuel: GuestFuel | null, uncompiled: readonly string[] = []): readonly PackageFigure[] {
  const plain = new Set(uncompiled.map(normal));
  return KNOWN.map((known) => {
    const imports = fuel?.imports.filter((each) => each.package === known.name) ?? [];
    const first = rangeOf(imports, plain.has(normal(known.name)) ? "uncompiled" : "first");
    return { ...known, first, cached: rangeOf(imports, "cached") };
  });
}

/** `Et.XMLfile` and `et-xmlfile` are one package. */
function normal(name: string): string {
  return name.toLowerCase().replace(/[-_.]+/g, "-");
}

/** The table of the guest that needs nothing but npm; sessions take that of the guest they run in. */
export const PACKAGES: readonly PackageFigure[] = packageTable(NPM_PYTHON_FUEL);

/** Outwards to two digits: what is measured lies within, and nobody is told more than can be known. */
function rangeOf(imports: readonly ImportFigure[], which: "first" | "uncompiled" | "cached"): FuelRange | null {
  if (imports.length === 0) return null;
  const fuels = imports.map((each) => each[which]);
  const [least, most] = [Math.min(...fuels), Math.max(...fuels)];
  return {
    least: Math.floor(least / unitOf(least)) * unitOf(least),
    most: Math.ceil(most / unitOf(most)) * unitOf(most),
  };
}

function unitOf(fuel: number): number {
  return 10 ** Math.max(0, String(fuel).length - 2);
}
