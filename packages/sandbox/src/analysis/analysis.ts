export type { EarlierImport, ErrorFacts, FuelFacts, ImportFact, Language } from "./facts.js";
export { analyzeFuel } from "./fuel.js";
export { explainError } from "./guidance.js";
export type { FuelRange, PackageFigure } from "./package-figure.js";
export { PACKAGES, packageTable } from "./packages.js";
export type {
  ErrorGuidance,
  ErrorType,
  FuelAnalysis,
  FuelStatus,
  SandboxMetadata,
  SandboxResult,
  TrapReason,
} from "./result.js";
