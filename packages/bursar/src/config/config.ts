// The public face of `bursar/config`: reading configurations, finding them, and what a run gets of one.

export type { Authority, AuthorityRefusal } from "./authority.js";
export type { BatchSection } from "./batch.js";
export { type BudgetFlag, type BudgetFlagOptions, readBudgetFlag } from "./budget-flag.js";
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
export type { EmptyField, Field, ListField, MapField, Member, ScalarField } from "./field.js";
export type { ForesightSection } from "./foresight.js";
export type { Governance, NamedAgent, SharedLimits } from "./governance.js";
export { type GoverningTerms, governingTerms } from "./governing.js";
export type { Layer } from "./layer.js";
export { findConfig, findConfigFiles, type LoadedConfig, type LoadOptions, loadConfig } from "./load.js";
export { ConfigLocationError, type LocatedConfig } from "./locate.js";
export { type Origin, type OriginKind, printOrigin, type Stated, type StatedBy } from "./origin.js";
export type { Override } from "./override.js";
export { type Place, printPlace } from "./place.js";
export type { NamedPolicy } from "./policies.js";
export type { PredictSettings } from "./predict.js";
export { type PolicyInput, PRESETS } from "./presets.js";
export { ConfigError, type Problem, printProblem } from "./problem.js";
export { type About, asMap, asText, keyed, type Reading } from "./reading.js";
export type { ReuseSection } from "./reuse.js";
export type { NamedStore, SectionReader, Webhook } from "./sections.js";
export type { SessionInput } from "./shared.js";
export type { Excerpt } from "./source.js";
