import { closeSync, openSync, readSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, relative, resolve } from "node:path";
import { type Configuration, MOST_BYTES, type ReadOptions, readConfig, shippedConfig } from "./configuration.js";
import { ConfigLocationError, type ConfigSurroundings, type LocatedConfig, locateConfig } from "./locate.js";

export interface LoadOptions extends Omit<ReadOptions, "file" | "folder"> {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
}

export interface LoadedConfig {
  readonly config: Configuration;
  /** Null when there is no file. */
  readonly located: LocatedConfig | null;
}

/**
 * Finds and reads the configuration. Without a file it is what is shipped: the table of dimensions and the presets.
 *
 * @throws {ConfigLocationError} when the file cannot be read, {ConfigError} when something in it is wrong.
 */
export function loadConfig(named?: string, options: LoadOptions = {}): LoadedConfig {
  const located = findConfig(named, options);
  if (located === null) return { config: shippedConfig(options.dimensions), located };
  const { cwd = process.cwd(), env: _, ...reading } = options;
  const path = resolve(cwd, located.file);
  const file = shortest(relative(cwd, path), located.file);
  return { config: readConfig(readText(path, file), { ...reading, file, folder: dirname(path) }), located };
}

/** A file in this folder, or not far from it, is known by its short name. */
function shortest(a: string, b: string): string {
  return a.length < b.length && a !== "" ? a : b;
}

/** Finds the configuration on this machine, without reading it; null when there is none. */
export function findConfig(named?: string, { cwd, env }: LoadOptions = {}): LocatedConfig | null {
  return locateConfig(named, surroundings(cwd ?? process.cwd(), env ?? process.env));
}

function surroundings(cwd: string, env: ConfigSurroundings["env"]): ConfigSurroundings {
  const uid = process.getuid?.() ?? null;
  return { platform: process.platform, env, cwd, home: env.HOME || homedir(), uid, look };
}

function look(path: string): ReturnType<ConfigSurroundings["look"]> {
  try {
    const found = statSync(path);
    return { kind: found.isDirectory() ? "folder" : "file", uid: found.uid };
  } catch {
    // What cannot be looked at is not there for this user.
    return null;
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
