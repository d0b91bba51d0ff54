export type { ErrorGuidance, FuelAnalysis, SandboxMetadata, SandboxResult, TrapReason } from "./analysis/result.js";
export type { FileEntry } from "./sessions/errand.js";
export { SandboxInputError } from "./sessions/input-error.js";
export type { SessionInfo } from "./sessions/keeper.js";
export type {
  ExecuteOptions,
  FuelWarning,
  Language,
  Moment,
  Mount,
  OutputPiece,
  SessionLimits,
  SessionOptions,
} from "./sessions/options.js";
export { defaultPlaces, type Places } from "./sessions/places.js";
export { openSandbox, Sandbox, type SandboxOptions, sandboxKeyFingerprint } from "./sessions/sandbox.js";
export { type Handlers, HostRefusal, type RunOptions, SandboxSession } from "./sessions/sandbox-session.js";
export { SavedSessionError, type SavedSessionProblem } from "./sessions/saved-session-error.js";
export type { Settings, Turn, Usage } from "./sessions/session.js";
export type { Answer, HostCall } from "./wasm/outcome.js";
