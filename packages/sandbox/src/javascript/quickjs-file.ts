import { createRequire } from "node:module";

/** Where npm has put the engine of the `quickjs-wasi` package. Only who may read all of `node_modules` can find out. */
export function quickjsFile(): string {
  return createRequire(import.meta.url).resolve("quickjs-wasi/quickjs.wasm");
}
