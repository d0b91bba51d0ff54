import type { PackageFigure } from "./package-figure.js";
import type { TrapReason } from "./result.js";

/** A module that the guest imported in this execution. */
export interface ImportFact {
  /** As the code names it, such as `openpyxl` or `openpyxl.chart`. */
  readonly module: string;
  /** Whether no earlier execution of this session imported it. */
  readonly first: boolean;
  /** What the import itself consumed, with everything it drew in; null when it did not end or was not measured. */
  readonly fuel: number | null;
}

/** A module that an earlier execution of the session imported; one that trapped left nothing behind and does not count. */
export interface EarlierImport {
  readonly module: string;
  readonly fuel: number | null;
}

export type Language = "python" | "javascript";

/** What is known about the fuel of one execution. Facts only: the analysis does the guessing, and says so. */
export interface FuelFacts {
  readonly consumed: number;
  readonly budget: number;
  readonly trap: TrapReason | null;
  /** Python unless it says otherwise; the table of packages is Python's. */
  readonly language?: Language;
  /**
   * Every import that the guest's code asked for and that is known of. Left out when nobody watched: then the code and
   * the beginning of stderr are looked at instead. After a trap they are looked at as well, because a guest that was
   * stopped in the middle of an import could not tell.
   */
  readonly imports?: readonly ImportFact[];
  readonly earlierImports?: readonly EarlierImport[];
  /** Whether globals and imports live on in the session; without it every execution pays for its imports again. */
  readonly autoPersistGlobals?: boolean;
  readonly stderr?: string;
  readonly code?: string;
  /** What imports cost; the measured table of this package when left out. */
  readonly packages?: readonly PackageFigure[];
}

/** What is known about how an execution ended. The same object serves both functions. */
export interface ErrorFacts extends FuelFacts {
  readonly language: Language;
  readonly exitCode: number;
  readonly trapMessage?: string | null;
  /** Names of the packages that are mounted in this session; left out when that is not known. */
  readonly mountedPackages?: readonly string[];
  /** Whether the session puts `/data/site-packages` on `sys.path` by itself. */
  readonly autoPath?: boolean;
  /** Folders beside `/app` that the guest may read; the folder of the packages when left out. */
  readonly mounts?: readonly string[];
  /** The last path that the guest could not open for writing; left out when there was none, or when that is not known. */
  readonly refusedPath?: string;
  readonly memoryLimitBytes?: number;
  readonly timeoutMs?: number;
}
