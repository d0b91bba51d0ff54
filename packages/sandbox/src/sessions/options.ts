import { HOME_FOLDER } from "../guests/guest-folders.js";
import { checkKeys, whole, wrong } from "./fields.js";

/** What a session is made of. */
export interface SessionOptions {
  readonly language: Language;
  /** What one execution may burn: 10,000,000,000 unless it says otherwise. */
  readonly fuelBudget?: number;
  /** How large the guest's memory may grow, in bytes: 256 MiB unless it says otherwise. */
  readonly memoryLimit?: number;
  /** How long one execution may take, in milliseconds of real time: 60,000 unless it says otherwise. */
  readonly timeout?: number;
  /** Files that are there from the start, by their path below `/app`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Real folders that the guest may see, each where it says. */
  readonly mounts?: readonly Mount[];
  /** Vendored packages, mounted read-only at `/data/site-packages`. They have to be added before. */
  readonly packages?: readonly string[];
  /** Whether `/data/site-packages` is looked into for imports without a program's doing. */
  readonly autoPath?: boolean;
  /** Whether globals and imports live on from one execution to the next; files always do. */
  readonly autoPersistGlobals?: boolean;
  /** Variables of the program; `HOME` is `/app` unless it says otherwise. */
  readonly env?: Readonly<Record<string, string>>;
  /** The same clock and the same randomness every time, so that the same program burns the same fuel to the unit. */
  readonly deterministic?: boolean | Moment;
  readonly limits?: Partial<SessionLimits>;
}

export type Language = "python" | "javascript";

export interface Mount {
  /** Where the guest sees it: a path outside of `/app`, such as `/mnt/input`; `/data/modules` for modules of JavaScript. */
  readonly path: string;
  readonly folder: string;
  readonly readOnly?: boolean;
}

/** What a session may keep or say at most. */
export interface SessionLimits {
  readonly storage_bytes: number;
  readonly files: number;
  readonly descriptors: number;
  readonly stdout_bytes: number;
  readonly stderr_bytes: number;
}

export interface ExecuteOptions {
  readonly fuelBudget?: number;
  readonly timeout?: number;
  /** The most it may write, in bytes; what is left of the session's own limit unless it says otherwise. */
  readonly storageLimit?: number;
  /** How large the guest's memory may grow, in bytes, where that is less than the session's own limit. */
  readonly memoryLimit?: number;
  readonly stdin?: string | Uint8Array;
  /** What the program finds as its arguments, its own name first. */
  readonly argv?: readonly string[];
  /** Ends the execution. */
  readonly signal?: AbortSignal;
  /**
   * Told now and then how much has been burnt, and how much may be, with extensions. What it throws ends the execution, which
   * throws it then.
   */
  readonly onProgress?: (consumed: number, budget: number) => void;
  /**
   * Warned when the program has burnt so much of what it may: once for each of `thresholds`, in order, and again only for one
   * that an extension has put ahead and that is crossed anew. The program goes on meanwhile. What it throws ends the
   * execution, which throws it then.
   */
  readonly onWarning?: (warning: FuelWarning) => void;
  /** The percentages of the fuel at which `onWarning` is told: 50, 80 and 95 unless it says otherwise. */
  readonly thresholds?: readonly number[];
  /** Told what the program prints, as it comes and in order: together it is what the result will hold. */
  readonly onOutput?: (piece: OutputPiece) => void;
  /** One statement of a dialogue: its value is shown. */
  readonly interactive?: boolean;
}

/** A present and a chance that are the same whenever a program is run again. */
export interface Moment {
  /** Milliseconds since 1970. */
  readonly instant: number;
  readonly seed: string;
}

/** A threshold of the fuel that a program has crossed. */
export interface FuelWarning {
  /** The percentage of the budget. */
  readonly threshold: number;
  readonly consumed: number;
  /** What the program may burn, with extensions. */
  readonly budget: number;
}

/** A part of what a program prints. It is untrusted text, as all of it is. */
export interface OutputPiece {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
  /** The same as the program wrote it, for output that may be no text. */
  readonly bytes: Uint8Array;
}

/** A session's options with nothing left open. */
export type Setup = Required<Omit<SessionOptions, "limits">> & { readonly limits: SessionLimits };

const MIB = 1024 * 1024;
const DEFAULT_LIMITS: SessionLimits = {
  storage_bytes: 50 * MIB,
  files: 10_000,
  descriptors: 256,
  stdout_bytes: MIB,
  stderr_bytes: MIB,
};
const MOST_FUEL = Number.MAX_SAFE_INTEGER;
const LEAST_MEMORY = 32 * MIB;
const MOST_MEMORY = 4096 * MIB;
const MOST_THRESHOLDS = 16;
const LONGEST_MS = 24 * 60 * 60_000;
const OPTIONS = [
  "language",
  "fuelBudget",
  "memoryLimit",
  "timeout",
  "files",
  "mounts",
  "packages",
  "autoPath",
  "autoPersistGlobals",
  "env",
  "deterministic",
  "limits",
];

const SETTINGS = ["fuelBudget", "timeout", "storageLimit", "memoryLimit", "stdin", "argv", "interactive"];
const LISTENERS = ["signal", "onProgress", "onWarning", "thresholds", "onOutput", "handlers", "describeError"];

/** The last moment that a clock of nanoseconds can tell. */
const LATEST = 9_000_000_000_000;

/** Fills in what was left out, and refuses what cannot be. */
export function setupOf(options: SessionOptions): Setup {
  checkKeys(options, "", OPTIONS);
  const { language, fuelBudget = 10_000_000_000, memoryLimit = 256 * MIB, timeout = 60_000 } = options;
  if (language !== "python" && language !== "javascript") throw wrong("language", language, '"python" or "javascript"');
  whole(fuelBudget, "fuelBudget", 1, MOST_FUEL);
  whole(memoryLimit, "memoryLimit", LEAST_MEMORY, MOST_MEMORY);
  whole(timeout, "timeout", 1, LONGEST_MS);
  checkKeys(options.limits ?? {}, "limits", Object.keys(DEFAULT_LIMITS));
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  for (const [name, value] of Object.entries(limits)) whole(value, `limits.${name}`, 0, MOST_FUEL);
  return {
    language,
    fuelBudget,
    memoryLimit,
    timeout,
    files: options.files ?? {},
    mounts: (options.mounts ?? []).map(mountOf),
    packages: options.packages ?? [],
    autoPath: options.autoPath ?? false,
    autoPersistGlobals: options.autoPersistGlobals ?? false,
    env: { HOME: HOME_FOLDER, ...options.env },
    deterministic: momentOf(options.deterministic ?? false),
    limits,
  };
}

/** Refuses what an execution does not know. One that is begun by itself has nobody who looks on, and answers. */
export function checkExecution(options: object, how: "execute" | "begin"): void {
  checkKeys(options, "", how === "execute" ? [...SETTINGS, ...LISTENERS] : SETTINGS);
}

/** The thresholds to warn at, or those that fit most programs: time to look, time to act, and the last chance. */
export function thresholdsOf(given: readonly number[] = [50, 80, 95]): readonly number[] {
  const isSound =
    Array.isArray(given) &&
    given.length <= MOST_THRESHOLDS &&
    given.every((each, at) => typeof each === "number" && each > (given[at - 1] ?? 0) && each < 100);
  if (isSound) return given;
  throw wrong(
    "thresholds",
    given,
    `at most ${MOST_THRESHOLDS} ascending percentages between 0 and 100, such as [50, 80]`,
  );
}

function momentOf(given: boolean | Moment): boolean | Moment {
  if (typeof given === "boolean") return given;
  checkKeys(given, "deterministic", ["instant", "seed"]);
  const { instant, seed } = given;
  whole(instant, "deterministic.instant", 0, LATEST);
  if (typeof seed !== "string") throw wrong("deterministic.seed", seed, "a text");
  return { instant, seed };
}

function mountOf(mount: Mount): Mount {
  checkKeys(mount, "mounts", ["path", "folder", "readOnly"]);
  const { path, folder } = mount;
  const sound = typeof path === "string" && /^(?:\/[^/\0]+)+$/.test(path) && !path.split("/").includes("..");
  // JavaScript looks for modules that are not a program's own in /data/modules.
  const taken = path !== "/data/modules" && /^\/(?:app|dev|data|python|tmp)(?:\/|$)/.test(path);
  if (!sound || taken) throw wrong("mounts.path", path, "a path such as /mnt/input, outside of /app, /data and /tmp");
  if (typeof folder !== "string" || folder === "") throw wrong("mounts.folder", folder, "a folder of this machine");
  return { path, folder, readOnly: mount.readOnly ?? true };
}
