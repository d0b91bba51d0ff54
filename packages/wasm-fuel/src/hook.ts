import { engine, type WasmInstance, type WasmModule, type WasmTable } from "./engine.js";
import { PRIVATE } from "./rewriter/layout.js";

/** Imports a function of type (i64) and exports it again. */
const WRAPPER = [
  [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00],
  [0x01, 0x05, 0x01, 0x60, 0x01, 0x7e, 0x00],
  [0x02, 0x07, 0x01, 0x01, 0x65, 0x01, 0x66, 0x00, 0x00],
  [0x07, 0x05, 0x01, 0x01, 0x66, 0x00, 0x00],
].flat();

let wrapper: WasmModule | null = null;

/** Says what a rewritten module calls. A table holds functions of WebAssembly only, so ours goes through a module that does nothing else. */
export function setHook({ exports }: WasmInstance, hook: (argument: bigint) => void): void {
  const hooks = exports[PRIVATE.hooks];
  if (hooks === undefined) throw new TypeError("the instance is not of a metered module; use meter()");
  wrapper ??= new engine.Module(Uint8Array.from(WRAPPER));
  (hooks as WasmTable).set(0, new engine.Instance(wrapper, { e: { f: hook } }).exports.f);
}
