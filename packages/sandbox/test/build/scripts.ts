import { fileURLToPath } from "node:url";
import type { GuestFuel } from "../../src/guests/guest-fuel.js";

/** Where the scripts are that build the fast guest. They are plain JavaScript; only the training needs what is compiled. */
export const SCRIPTS: string = fileURLToPath(new URL("../../guest/build/", import.meta.url));

type Versions = Readonly<Record<string, string>>;

export interface Source {
  readonly name: string;
  readonly version: string;
  readonly file: string;
  readonly sha256: string;
}

export interface Fingerprint {
  readonly SCRIPTS_HASH: string;
  buildHash(compiler: Versions, scripts?: string, sources?: readonly Source[]): string;
  shapingScripts(): readonly string[];
  hashScripts(files: readonly (readonly [string, Uint8Array])[]): string;
}

interface Licence {
  readonly component: string;
  readonly version?: string;
  readonly spdx: string;
  readonly source?: string;
  readonly package?: string;
  readonly path: string;
}

export interface BuildSettings {
  readonly COMPILER_PACKAGES: readonly string[];
  readonly TOOLS: Readonly<Record<string, string>>;
  readonly PROMISED_MODULES: readonly string[];
  readonly ABSENT_MODULES: readonly string[];
  readonly OMITTED_FILES: readonly string[];
  readonly EXPORTS: readonly string[];
  readonly LICENCES: readonly Licence[];
  readonly PROFILE_FORMAT: number;
}

export type Edit = readonly [before: string, after: string];

export interface Edits {
  readonly EDITS: readonly { readonly source: string; readonly file: string; readonly edits: readonly Edit[] }[];
  edited(text: string, edits: readonly Edit[], file: string): string;
}

export interface Described {
  readonly wasm: Uint8Array;
  readonly stdlib: Uint8Array;
  readonly profile: Uint8Array;
  readonly facts: {
    readonly version: string;
    readonly builtins: readonly string[];
    readonly stackPointer: number;
    readonly initialMemoryBytes: number;
  };
  readonly licences: readonly {
    readonly component: string;
    readonly version: string;
    readonly spdx: string;
    readonly file: string;
    readonly text: Uint8Array;
  }[];
  readonly hash: string;
  readonly compiler: Versions;
}

interface WrittenManifest {
  readonly version: string;
  readonly wasm: { readonly file: string; readonly sha256: string; readonly bytes: number };
  readonly stdlib: { readonly file: string; readonly sha256: string; readonly bytes: number; readonly mount: string };
  readonly profile: { readonly format: number; readonly file: string; readonly sha256: string };
  readonly exports: readonly string[];
  readonly entry: { readonly kind: string; readonly name: string };
  readonly build: { readonly hash: string; readonly scripts: string; readonly compiler: Versions };
  readonly licences: readonly object[];
  readonly fuel: GuestFuel;
}

export interface Manifests {
  describeGuest(described: Described): WrittenManifest;
}

export interface Guests {
  defaultFolder(env: Versions): string;
  folderOf(guests: string, hash: string): string;
  readGuest(folder: string): WrittenManifest | null;
  findByScripts(guests: string, scripts: string): string | null;
  writeGuest(guests: string, hash: string, files: readonly (readonly [string, string | Uint8Array])[]): string;
  prefer(guests: string, hash: string): void;
}

export interface BuildTools {
  missingTools(): readonly string[];
  compilerVersions(): Promise<Versions>;
  readVersions(listed: string): Versions;
  installCommand(packages: readonly string[]): string;
}

export interface Commands {
  run(command: string, args: readonly string[], options: { log: string; signal?: AbortSignal }): Promise<void>;
  outputOf(command: string, args: readonly string[], options?: { signal?: AbortSignal }): Promise<string | null>;
  environment(): Versions;
}

/** Loads one of the scripts, which have no types of their own. */
export async function load<Module>(name: string, folder: string = SCRIPTS): Promise<Module> {
  return (await import(/* @vite-ignore */ `${folder}${name}`)) as Module;
}
