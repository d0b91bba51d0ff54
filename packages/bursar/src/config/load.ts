import { closeSync, openSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, relative, resolve } from "node:path";
import { type Configuration, MOST_BYTES, type ReadOptions, readConfig, shippedConfig } from "./configuration.js";
import {
  ConfigLocationError,
  type ConfigSurroundings,
  type FoundPath,
  type LocatedConfig,
  locateConfigs,
} from "./locate.js";
import { tightenConfig, withoutForeignBatches, withoutStore } from "./tighten.js";

export interface LoadOptions extends Omit<ReadOptions, "file" | "folder"> {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface LoadedConfig {
  readonly config: Configuration;
  /** The file that has the last word; null when there is none. */
  readonly located: LocatedConfig | null;
  /** All files in force: `located`, and the files of working folders that tighten it, the outermost first. */
  readonly files: readonly LocatedConfig[];
}

/**
 * Finds and reads the configuration. Without a file it is what is shipped: the table of dimensions and the presets. A file of a
 * working folder can only tighten what the user's own file says; what it says beyond that is in `config.ignored`.
 *
 * @throws {ConfigLocationError} when a file cannot be read, {ConfigError} when something in one is wrong.
 */
export function loadConfig(named?: string, options: LoadOptions = {}): LoadedConfig {
  const { cwd = process.cwd(), env = process.env, ...reading } = options;
  const files = findConfigFiles(named, options);
  const [base, ...folders] = files.map((located) => readLocated(located, cwd, reading));
  const [located = null] = files;
  if (base === undefined) return { config: shippedConfig(options.dimensions), located, files };
  const trusted = located?.by === "folder" ? baseOfFolder(base, env.BURSAR_STORE) : base;
  return { config: tightenConfig(trusted, folders), located, files };
}

/** The environment is the operator's, a folder may be an agent's. */
function baseOfFolder(config: Configuration, store: string | undefined): Configuration {
  return withoutForeignBatches(store === undefined || store === "" ? config : withoutStore(config, store));
}

function readLocated(
  located: LocatedConfig,
  cwd: string,
  reading: Omit<ReadOptions, "file" | "folder">,
): Configuration {
  const path = resolve(cwd, located.file);
  const file = located.by === "user" ? path : shortest(relative(cwd, path), located.file);
  return readConfig(readText(path, file), { ...reading, file, folder: dirname(path) });
}

/** A file in this folder, or not far from it, is known by its short name. */
function shortest(a: string, b: string): string {
  return a.length < b.length && a !== "" ? a : b;
}

/** Finds the configuration on this machine that has the last word, without reading it; null when there is none. */
export function findConfig(named?: string, options: LoadOptions = {}): LocatedConfig | null {
  return findConfigFiles(named, options)[0] ?? null;
}

/** Finds all configuration files in force, without reading them; the one that has the last word is the first. */
export function findConfigFiles(named?: string, { cwd, env }: LoadOptions = {}): readonly LocatedConfig[] {
  return locateConfigs(named, surroundings(cwd ?? process.cwd(), env ?? process.env));
}

function surroundings(cwd: string, env: ConfigSurroundings["env"]): ConfigSurroundings {
  const uid = process.getuid?.() ?? null;
  return { platform: process.platform, env, cwd, home: env.HOME || homedir(), uid, look };
}

function look(path: string): FoundPath | null {
  try {
    const found = statSync(path);
    return { kind: found.isFile() ? "file" : "other", uid: found.uid };
  } catch (error) {
    const { code = "" } = error as NodeJS.ErrnoException;
    return code === "ENOENT" || code === "ENOTDIR" ? null : { kind: "unreadable", uid: -1 };
  }
}

/** Reads a text, no more of it than can be a configuration: what is named may be a pipe or a device without an end. */
function readText(path: string, file: string): string {
  const bytes = Buffer.alloc(MOST_BYTES + 1);
  const length = filled(path, file, bytes);
  if (length > MOST_BYTES) {
    throw new ConfigLocationError(`${file} has more than ${MOST_BYTES} bytes, and so is no configuration`);
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes.subarray(0, length));
  } catch {
    throw new ConfigLocationError(`${file} is not UTF-8; save it as UTF-8`);
  }
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "is not there; name another with --config or BURSAR_CONFIG, or write one with bursar config init",
  EISDIR: "is a folder; name the file in it",
  EACCES: "cannot be read; allow it",
  EPERM: "cannot be read; allow it",
};

function filled(path: string, file: string, bytes: Buffer): number {
  try {
    const handle = openSync(path, "r");
    try {
      let length = 0;
      while (length < bytes.length) {
        const count = readSync(handle, bytes, length, bytes.length - length, null);
        if (count === 0) break;
        length += count;
      }
      return length;
    } finally {
      closeSync(handle);
    }
  } catch (error) {
    const { code = "", message } = error as NodeJS.ErrnoException;
    throw new ConfigLocationError(`${file} ${REASONS[code] ?? `cannot be read: ${message}`}`);
  }
}
