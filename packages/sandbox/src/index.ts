export type { ErrorGuidance, FuelAnalysis, SandboxMetadata, SandboxResult, TrapReason } from "./analysis/result.js";
export type { FileEntry } from "./sessions/errand.js";
export type { SessionInfo } from "./sessions/keeper.js";
export {
  type ExecuteOptions,
  type Language,
  type Mount,
  SandboxInputError,
  type SessionLimits,
  type SessionOptions,
} from "./sessions/options.js";
export { defaultPlaces, type Places } from "./sessions/places.js";
export {
  type Handlers,
  openSandbox,
  type RunOptions,
  Sandbox,
  type SandboxOptions,
  SandboxSession,
} from "./sessions/sandbox.js";
export type { Settings, Turn } from "./sessions/session.js";
export type { Answer, HostCall } from "./wasm/outcome.js";
