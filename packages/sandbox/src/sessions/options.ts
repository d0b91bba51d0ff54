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
  readonly stdin?: string | Uint8Array;
  /** What the program finds as its arguments, its own name first. */
  readonly argv?: readonly string[];
  /** Ends the execution. */
  readonly signal?: AbortSignal;
  /** Told how much has been burnt, now and then. */
  readonly onProgress?: (consumed: number, budget: number) => void;
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

/** A part of what a program prints. It is untrusted text, as all of it is. */
export interface OutputPiece {
  readonly stream: "stdout" | "stderr";
  readonly text: string;
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
const LONGEST_MS = 24 * 60 * 60_000;
const KNOWN = [
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

/** The last moment that a clock of nanoseconds can tell. */
const LATEST = 9_000_000_000_000;

/** Fills in what was left out, and refuses what cannot be. */
export function setupOf(options: SessionOptions): Setup {
  if (typeof options !== "object" || options === null) throw wrong("options", options, "an object with a language");
  const unknown = Object.keys(options).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined) throw new SandboxInputError(unknown, `is not known; known are ${KNOWN.join(", ")}`);
  const { language, fuelBudget = 10_000_000_000, memoryLimit = 256 * MIB, timeout = 60_000 } = options;
  if (language !== "python" && language !== "javascript") throw wrong("language", language, '"python" or "javascript"');
  whole(fuelBudget, "fuelBudget", 1, MOST_FUEL);
  whole(memoryLimit, "memoryLimit", LEAST_MEMORY, MOST_MEMORY);
  whole(timeout, "timeout", 1, LONGEST_MS);
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
    env: options.env ?? {},
    deterministic: momentOf(options.deterministic ?? false),
    limits,
  };
}

/** Thrown for options that cannot be used. It names the one, and says what is allowed. */
export class SandboxInputError extends Error {
  override readonly name = "SandboxInputError";
  readonly code = "invalid_input";
  readonly field: string;

  constructor(field: string, problem: string) {
    super(`${field} ${problem}`);
    this.field = field;
  }
}

export function whole(value: unknown, field: string, least: number, most: number): void {
  const fits = Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
  if (!fits) throw wrong(field, value, `a whole number from ${least} to ${most}`);
}

function momentOf(given: boolean | Moment): boolean | Moment {
  if (typeof given === "boolean") return given;
  const { instant, seed } = given ?? {};
  whole(instant, "deterministic.instant", 0, LATEST);
  if (typeof seed !== "string") throw wrong("deterministic.seed", seed, "a text");
  return { instant, seed };
}

function mountOf(mount: Mount): Mount {
  const { path, folder } = mount ?? {};
  const sound = typeof path === "string" && /^(?:\/[^/\0]+)+$/.test(path) && !path.split("/").includes("..");
  // JavaScript looks for modules that are not a program's own in /data/modules.
  const taken = path !== "/data/modules" && /^\/(?:app|dev|data|python|tmp)(?:\/|$)/.test(path);
  if (!sound || taken) throw wrong("mounts.path", path, "a path such as /mnt/input, outside of /app, /data and /tmp");
  if (typeof folder !== "string" || folder === "") throw wrong("mounts.folder", folder, "a folder of this machine");
  return { path, folder, readOnly: mount.readOnly ?? true };
}

function wrong(field: string, value: unknown, allowed: string): SandboxInputError {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 80)) : String(value);
  return new SandboxInputError(field, `is ${shown}; allowed: ${allowed}`);
}
