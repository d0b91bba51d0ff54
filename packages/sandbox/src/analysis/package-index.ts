import type { FuelRange, PackageFigure } from "./package-figure.js";

/** Finds a package by any of its names. Names match whole and whatever their case: `notopenpyxl` is not openpyxl. */
export type PackageIndex = ReadonlyMap<string, PackageFigure>;

/** A table is looked up at every execution and hardly ever changes, so its index is made once. */
const indexes = new WeakMap<readonly PackageFigure[], PackageIndex>();

export function packageIndex(packages: readonly PackageFigure[]): PackageIndex {
  const known = indexes.get(packages);
  if (known !== undefined) return known;
  const index = new Map<string, PackageFigure>();
  for (const figure of packages) {
    checkRange(`${figure.name}.first`, figure.first);
    checkRange(`${figure.name}.cached`, figure.cached);
    for (const name of [figure.name, ...figure.modules]) index.set(name.toLowerCase(), figure);
  }
  indexes.set(packages, index);
  return index;
}

/** `openpyxl.chart` belongs to openpyxl. */
export function findPackage(index: PackageIndex, module: string): PackageFigure | null {
  return index.get(topLevel(module).toLowerCase()) ?? null;
}

export function topLevel(module: string): string {
  const dot = module.indexOf(".");
  return dot === -1 ? module : module.slice(0, dot);
}

function checkRange(field: string, range: FuelRange | null): void {
  if (range === null) return;
  const { least, most } = range;
  const sound = Number.isSafeInteger(least) && Number.isSafeInteger(most) && 0 <= least && least <= most;
  if (!sound)
    throw new RangeError(`${field} is ${least} to ${most}; give whole numbers of fuel, the smaller one first`);
}
