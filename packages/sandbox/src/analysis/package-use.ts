import type { FuelFacts, ImportFact } from "./facts.js";
import { modulesMentioned, namesUsed } from "./mentions.js";
import type { PackageFigure } from "./package-figure.js";
import { findPackage, type PackageIndex, packageIndex, topLevel } from "./package-index.js";
import { PACKAGES } from "./packages.js";
import { isNameCharacter } from "./text.js";

/** A package that an execution used, as far as its fuel is concerned. */
export interface PackageUse {
  readonly name: string;
  readonly figure: PackageFigure | null;
  /** Whether somebody watched the import; otherwise it was only read about. */
  readonly watched: boolean;
  /** Whether no earlier execution of the session imported it. */
  readonly first: boolean;
  /** Whether the session had it already, so that the import was nearly free. */
  readonly cached: boolean;
  /** What its imports consumed in this execution; null when nobody measured. */
  readonly measured: number | null;
  /** What they consumed in an earlier execution; null when there was none, or nobody measured. */
  readonly earlier: number | null;
}

/** A guest can import without end; what comes after so many says nothing new. */
const MOST_IMPORTS = 10_000;
const MOST_NAME = 100;
const NONE: readonly PackageFigure[] = [];

/** The packages that this execution used, each once; what one of them draws in is not listed beside it. */
export function packageUses(facts: FuelFacts): readonly PackageUse[] {
  const index = packageIndex(facts.language === "javascript" ? NONE : (facts.packages ?? PACKAGES));
  const earlier = earlierFuel(facts, index);
  const found = new Map<string, PackageUse>();
  for (const { module, first, fuel, watched } of importsOf(facts, index)) {
    const figure = findPackage(index, module);
    const name = packageName(module, index);
    const before = found.get(name);
    // Whether the package was new is decided by its first import: a submodule that comes later does not make it so.
    const isFirst = before?.first ?? (first && !earlier.has(name));
    found.set(name, {
      name,
      figure,
      watched,
      first: isFirst,
      cached: !isFirst && facts.autoPersistGlobals === true,
      measured: before === undefined ? measuredFuel(fuel, facts) : add(before.measured, measuredFuel(fuel, facts)),
      earlier: earlier.get(name) ?? null,
    });
  }
  const drawnIn = new Set([...found.values()].flatMap(({ figure }) => figure?.needs ?? []));
  return [...found.values()].filter(({ name }) => !drawnIn.has(name));
}

/** Whether an import took enough of the budget to be worth a word: a twentieth. */
export function isHeavy(use: PackageUse, budget: number): boolean {
  const cost = costOf(use);
  return cost > 0 && cost >= budget / 20;
}

/** What was measured; else what the table says it takes at most. */
export function costOf({ measured, cached, figure }: PackageUse): number {
  return measured ?? (cached ? figure?.cached : figure?.first)?.most ?? 0;
}

interface KnownImport extends ImportFact {
  readonly watched: boolean;
}

/** Those that were watched, and packages that were only read about: what was watched is the better source. */
function importsOf(facts: FuelFacts, index: PackageIndex): readonly KnownImport[] {
  const { imports, trap } = facts;
  const watched = namedWell(imports ?? []).map((fact) => ({ ...fact, watched: true }));
  const read = imports === undefined || trap !== null ? importsRead(facts, index) : [];
  const names = new Set(watched.map(({ module }) => packageName(module, index)));
  const others = [...read, ...importsKept(facts, index)].filter(({ module }) => !names.has(packageName(module, index)));
  return [...watched, ...others.map((fact) => ({ ...fact, watched: false }))];
}

function importsRead({ code = "", stderr = "" }: FuelFacts, index: PackageIndex): readonly ImportFact[] {
  return [...modulesMentioned(code), ...modulesMentioned(stderr)]
    .filter((module) => findPackage(index, module) !== null)
    .map((module) => ({ module, first: true, fuel: null }));
}

/** What an earlier execution imported and this one uses without another import, which globals that live on allow. */
function importsKept(facts: FuelFacts, index: PackageIndex): readonly ImportFact[] {
  const { autoPersistGlobals, earlierImports = [], code } = facts;
  if (autoPersistGlobals !== true || code === undefined) return [];
  const used = namesUsed(code);
  return namedWell(earlierImports)
    .filter(({ module }) => {
      const names = findPackage(index, module)?.modules ?? [topLevel(module)];
      return names.some((name) => used.has(name));
    })
    .map(({ module }) => ({ module, first: false, fuel: null }));
}

function namedWell<T extends { readonly module: string }>(imports: readonly T[]): readonly T[] {
  return imports.slice(0, MOST_IMPORTS).filter(({ module }) => isModuleName(module));
}

function earlierFuel({ earlierImports = [] }: FuelFacts, index: PackageIndex): ReadonlyMap<string, number | null> {
  const fuels = new Map<string, number | null>();
  for (const { module, fuel } of earlierImports.slice(0, MOST_IMPORTS)) {
    const name = packageName(module, index);
    fuels.set(name, most(fuels.get(name) ?? null, isFuel(fuel) ? fuel : null));
  }
  return fuels;
}

function packageName(module: string, index: PackageIndex): string {
  return findPackage(index, module)?.name ?? topLevel(module);
}

/** The guest's word for it is not enough: an import cannot have consumed more than everything. */
function measuredFuel(fuel: number | null, { consumed }: FuelFacts): number | null {
  return isFuel(fuel) && fuel <= consumed ? fuel : null;
}

function isFuel(fuel: number | null): fuel is number {
  return Number.isSafeInteger(fuel) && fuel !== null && fuel >= 0;
}

/** Of a sum with an unknown part nothing is known. */
function add(one: number | null, other: number | null): number | null {
  return one === null || other === null ? null : one + other;
}

function most(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}

/** Names go into sentences, and a guest may call a module anything. */
function isModuleName(module: string): boolean {
  if (module.length === 0 || module.length > MOST_NAME) return false;
  for (let at = 0; at < module.length; at++) {
    const code = module.charCodeAt(at);
    if (code >= 0x80 || !(isNameCharacter(code) || code === 0x2e || code === 0x2d)) return false;
  }
  return true;
}
