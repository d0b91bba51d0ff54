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

/** One way to import a package. */
export interface ImportFigure {
  readonly package: string;
  readonly code: string;
  /** For the first time in a session, when the package is compiled for this guest. */
  readonly first: number;
  /** The same when it is not. */
  readonly uncompiled: number;
  /** When the session has it already. */
  readonly cached: number;
}

/** The figures as they are written in a manifest; null when they are none, or those of another version. */
export function readFuel(written: unknown): GuestFuel | null {
  if (!isRecord(written)) return null;
  const { costs, start, empty, work, imports } = written;
  if (typeof costs !== "string" || !isFuel(start) || !isFuel(empty)) return null;
  if (!isList(work, isWork) || !isList(imports, isImport)) return null;
  return { costs, start, empty, work, imports };
}

function isWork(value: unknown): value is WorkFigure {
  return isRecord(value) && typeof value.name === "string" && typeof value.code === "string" && isFuel(value.fuel);
}

function isImport(value: unknown): value is ImportFigure {
  if (!isRecord(value) || typeof value.package !== "string" || typeof value.code !== "string") return false;
  return isFuel(value.first) && isFuel(value.uncompiled) && isFuel(value.cached);
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
