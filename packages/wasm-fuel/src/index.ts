export { enableBranchHints } from "./branch-hints.js";
export { Ceiling } from "./ceiling.js";
export {
  engine,
  type WasmGlobal,
  type WasmImports,
  type WasmInstance,
  type WasmMemory,
  type WasmModule,
  type WasmTable,
} from "./engine.js";
export { Fuel, type FuelOptions } from "./fuel.js";
export { DepthExceeded, OutOfFuel } from "./fuel-errors.js";
export { ADDITIONS, METER_VERSION, type MeterOptions, meter } from "./meter.js";
export { PROFILE_FORMAT, type Profile, readProfile, writeProfile } from "./profile.js";
export { COSTS } from "./rewriter/costs.js";
export { ModuleError } from "./rewriter/module-error.js";
