// The public face of `bursar/config`: reading configurations, finding them, and what a run gets of one.

export type { Authority, AuthorityRefusal } from "./authority.js";
export { type BudgetFlag, type BudgetFlagOptions, readBudgetFlag } from "./budget-flag.js";
export { configSchema } from "./config-schema.js";
export { type Configuration, type ReadOptions, readConfig, shippedConfig } from "./configuration.js";
export {
  type BudgetRequest,
  type Effective,
  type EffectiveBudget,
  type EffectiveLimit,
  effectiveBudget,
  type OpeningTerms,
  type SharedOpening,
} from "./effective.js";
export { EXAMPLE } from "./example.js";
export type { BatchSection, ForesightSection, PredictSettings, ReuseSection } from "./foresight-section.js";
export type { Governance, NamedAgent, SharedLimits } from "./governance.js";
export { type GoverningTerms, governingTerms } from "./governing.js";
export type { Layer } from "./layer.js";
export { findConfig, findConfigFiles, type LoadedConfig, type LoadOptions, loadConfig } from "./load.js";
export { ConfigLocationError, type LocatedConfig } from "./locate.js";
export { type Origin, type OriginKind, printOrigin, type Stated, type StatedBy } from "./origin.js";
export type { Override } from "./override.js";
export { type Place, printPlace } from "./place.js";
export type { NamedPolicy } from "./policies.js";
export { type PolicyInput, PRESETS } from "./presets.js";
export { ConfigError, type Problem, printProblem } from "./problem.js";
export type { SessionInput } from "./shared.js";
export type { Excerpt } from "./source.js";
export type { NamedStore, Webhook } from "./store-section.js";
