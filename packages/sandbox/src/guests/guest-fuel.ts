/**
 * What a guest burns, as it was measured, each figure with the code that it is the figure of. Fuel counts the instructions of
 * an interpreter, so no figure of one guest is true of another.
 */
export interface GuestFuel {
  /** The version of the cost table that it was counted by. */
  readonly costs: string;
  /** Starting the interpreter until its boot code has run: it is part of the image, and no session pays for it. */
  readonly start: number;
  /** A program without a line. */
  readonly empty: number;
  readonly work: readonly WorkFigure[];
  readonly imports: readonly ImportFigure[];
}

/** Familiar work. */
export interface WorkFigure {
  readonly name: string;
  /** What comes before it, and is not counted. */
  readonly before?: string;
  readonly code: string;
  /** Packages that it needs mounted. */
  readonly packages?: readonly string[];
  readonly fuel: number;
}

/** One way to import a package that is compiled. */
export interface ImportFigure {
  readonly package: string;
  readonly code: string;
  /** For the first time in a session. */
  readonly first: number;
  /** When the session has it already. */
  readonly cached: number;
}

/** The figures as they are written in a manifest; it says what is wrong with them when they are none. */
export function readFuel(written: unknown): GuestFuel | { readonly wrong: string } {
  if (!isRecord(written)) return { wrong: "fuel is no object" };
  const { costs, start, empty, work, imports } = written;
  if (typeof costs !== "string") return { wrong: "fuel.costs is no text" };
  if (!isFuel(start)) return { wrong: "fuel.start is no whole number" };
  if (!isFuel(empty)) return { wrong: "fuel.empty is no whole number" };
  if (!isList(work, isWork)) return { wrong: "fuel.work is no list of names, code and fuel" };
  if (!isList(imports, isImport)) return { wrong: "fuel.imports is no list of packages, code, first and cached" };
  return { costs, start, empty, work, imports };
}

function isWork(value: unknown): value is WorkFigure {
  return isRecord(value) && typeof value.name === "string" && typeof value.code === "string" && isFuel(value.fuel);
}

function isImport(value: unknown): value is ImportFigure {
  if (!isRecord(value) || typeof value.package !== "string" || typeof value.code !== "string") return false;
  return isFuel(value.first) && isFuel(value.cached);
}

function isList<Value>(value: unknown, isOne: (each: unknown) => each is Value): value is readonly Value[] {
  return Array.isArray(value) && value.every(isOne);
}

function isFuel(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null;
}
