/** What the manifest of a guest says of it; docs/GUESTS.md tells about all of it. */
export interface BuiltManifest {
  readonly version: string;
  readonly wasm: { readonly file: string; readonly sha256: string; readonly bytes: number };
  readonly stdlib: { readonly file: string; readonly sha256: string; readonly bytes: number };
  readonly build: { readonly hash: string };
}

export interface BuiltGuest {
  /** Whether it was built now, and was not there before. */
  readonly built: boolean;
  readonly folder: string;
  readonly manifest: BuiltManifest;
  /** How many times faster than the guest on npm it is; null when nobody asked, or when that could not be measured. */
  readonly comparison: { readonly geometricMean: number; readonly ratios: Readonly<Record<string, number>> } | null;
  readonly seconds: number;
  readonly steps: readonly { readonly name: string; readonly seconds: number }[];
}

export interface BuildOptions {
  /** Where guests are kept: BURSAR_GUESTS, or the user's cache, unless it says otherwise. */
  readonly folder?: string;
  /** How many compilers may run at a time: as many as there are processors unless it says otherwise. */
  readonly compilers?: number;
  /** Build it even if it is there. */
  readonly force?: boolean;
  readonly compare?: boolean;
  /** Stops the build; nothing of it is left then. */
  readonly signal?: AbortSignal;
  /** Told before each step, with the seconds that have passed. */
  readonly onStep?: (name: string, seconds: number) => void;
}

/**
 * Builds the fast CPython guest from Debian 12's packages, in some minutes, or finds the one that was built before. As root it
 * installs the packages that are missing.
 *
 * @throws {BuildFailure} when something is missing, cannot be reached, or does not keep its promises.
 */
export function buildGuest(options?: BuildOptions): Promise<BuiltGuest>;

/** Why there is no guest. */
export class BuildFailure extends Error {
  /** 1 the build failed, 3 packages are missing and only root may install them, 4 Debian's archive cannot be reached. */
  readonly exitCode: number;
  /** Debian's packages that are missing. */
  readonly missing: readonly string[];
  /** What installs them; null when nothing can. */
  readonly command: string | null;
}
