import { posix } from "node:path";
import { HOME_FOLDER } from "../guests/guest-folders.js";
import type { GuestFiles } from "./guest-files.js";
import type { ModuleReply } from "./quickjs.js";

/** Where vendored modules lie, for names that are no paths. */
const MODULE_FOLDER = "/data/modules";
const LARGEST_SOURCE = 8 * 1024 * 1024;
const LONGEST_SPECIFIER = 1024;
const LARGEST_MANIFEST = 256 * 1024;

/** QuickJS's own modules, under both of the names that it knows. */
const BUILT_IN: Readonly<Record<string, string>> = { std: "std", os: "os", "qjs:std": "std", "qjs:os": "os" };

/** Finds the modules that a program imports: among the session's files, and in the folder of vendored ones. */
export class Modules {
  private readonly files: GuestFiles;

  constructor(files: GuestFiles) {
    this.files = files;
  }

  /** The full name of a module: one of the engine's own, or a path. */
  resolve(importer: string, specifier: string): ModuleReply {
    const builtIn = Object.hasOwn(BUILT_IN, specifier) ? BUILT_IN[specifier] : undefined;
    if (builtIn !== undefined) return { kind: "found", text: builtIn };
    if (specifier === "" || specifier.length > LONGEST_SPECIFIER) return missing(specifier, importer);
    const found = this.candidates(importer, specifier).find((path) => this.files.isFile(path));
    return found === undefined ? missing(specifier, importer) : { kind: "found", text: found };
  }

  /** The source of a module by its full name. */
  load(name: string): ModuleReply {
    const bytes = name.startsWith("/") ? this.files.source(name, LARGEST_SOURCE) : null;
    if (bytes === null) {
      return {
        kind: "error",
        message: `Cannot load module '${name}': it is no file of at most ${LARGEST_SOURCE} bytes`,
      };
    }
    const text = new TextDecoder().decode(bytes);
    return name.endsWith(".json") ? jsonModule(name, text) : { kind: "found", text };
  }

  private candidates(importer: string, specifier: string): readonly string[] {
    if (/^\.{0,2}\//.test(specifier) || specifier === "." || specifier === "..") {
      const folder = importer.startsWith("/") ? posix.dirname(importer) : HOME_FOLDER;
      return completions(posix.resolve(folder, specifier));
    }
    // A vendored name stays below its folder, whatever dots it has in it.
    const path = posix.resolve(MODULE_FOLDER, specifier);
    if (!path.startsWith(`${MODULE_FOLDER}/`)) return [];
    const entry = this.entryOf(path);
    return entry === null ? completions(path) : [...completions(entry), ...completions(path)];
  }

  /** The file that a vendored package names as its entry; null when it names none. */
  private entryOf(folder: string): string | null {
    const manifest = this.files.source(`${folder}/package.json`, LARGEST_MANIFEST);
    if (manifest === null) return null;
    try {
      const { exports, module, main } = JSON.parse(new TextDecoder().decode(manifest));
      const named = [entryIn(exports), module, main].find((name) => typeof name === "string");
      const entry = named === undefined ? null : posix.resolve(folder, named);
      return entry?.startsWith(`${folder}/`) ? entry : null;
    } catch {
      return null;
    }
  }
}

/** The entry in a package's `exports`, in the forms that packages without variants use. */
function entryIn(exports: unknown): unknown {
  let found = exports;
  for (let level = 0; level < 3 && typeof found === "object" && found !== null; level++) {
    const conditions = found as Readonly<Record<string, unknown>>;
    found = conditions["."] ?? conditions.import ?? conditions.default;
  }
  return found;
}

function completions(path: string): readonly string[] {
  return [path, `${path}.js`, `${path}.mjs`, `${path}.json`, `${path}/index.js`, `${path}/index.mjs`];
}

function missing(specifier: string, importer: string): ModuleReply {
  const where = /^\.{0,2}\//.test(specifier) ? "" : `; modules without a path are looked for in ${MODULE_FOLDER}`;
  const shown = specifier.slice(0, 200);
  return { kind: "error", message: `Cannot find module '${shown}' imported from ${importer.slice(0, 200)}${where}` };
}

/** A module whose default export is what the file holds. */
function jsonModule(name: string, text: string): ModuleReply {
  try {
    JSON.parse(text);
  } catch {
    return { kind: "error", message: `Cannot load module '${name}': it is not valid JSON` };
  }
  return { kind: "found", text: `export default JSON.parse(${JSON.stringify(text)});` };
}
