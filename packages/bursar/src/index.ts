/// <reference lib="esnext.disposable" preserve="true" />
// The public face of `bursar`. What is not named here, or in another entry of the exports map, is not public.

export {
  type BudgetState,
  OpenBudget,
  type OpenBudgetOptions,
  openBudget,
} from "./ambient/open-budget.js";
export { withBudget } from "./ambient/with-budget.js";
export type { Amount, Amounts } from "./core/amount.js";
export {
  type Budget,
  type BudgetId,
  type Funding,
  freeOf,
  limitOf,
  type Path,
  type Scope,
  usedOf,
} from "./core/budget.js";
export type { Call, CallId } from "./core/call.js";
export { canonicalize, type Json, type JsonObject } from "./core/chain/canonical.js";
export { type Head, type Link, type LinkBody, parseLine } from "./core/chain/link.js";
export { type SignedHead, signHead, verifyHead } from "./core/chain/signed-head.js";
export {
  type Verification,
  type VerificationFailure,
  type VerificationReason,
  type VerifyOptions,
  verifyChain,
  verifyJsonl,
} from "./core/chain/verify.js";
export type { Grant, Opening } from "./core/children.js";
export { type NanoUsd, printUsd, usd } from "./core/decimal.js";
export type { Decision, Finding, Refusal } from "./core/decision.js";
export {
  type Dimension,
  type DimensionDefinition,
  type DimensionKind,
  defineDimension,
  printAmount,
  readAmount,
  writeAmount,
} from "./core/dimension.js";
export { Dimensions, STANDARD } from "./core/dimensions.js";
export { type Document, type DocumentKind, type Entry, StaleError } from "./core/document.js";
export { BursarError, InputError, LedgerError } from "./core/errors.js";
export { type Action, type BudgetEventName, Events } from "./core/events.js";
export { explainDecision } from "./core/explain.js";
export {
  type BudgetAmounts,
  type BudgetLimits,
  type BudgetPolicies,
  defaultLimits,
  defaultPolicies,
  readAmounts,
  readLimits,
  readPolicies,
} from "./core/input.js";
export { TENANT_CHAIN } from "./core/keep.js";
export { nearest } from "./core/nearest.js";
export type { Notice } from "./core/notice.js";
export type {
  ChargeOperation,
  CommitOperation,
  ExtendOperation,
  JournalOperation,
  LifeOperation,
  OpenOperation,
  Operation,
  Outcome,
  OutcomeOf,
  PutOperation,
  ReleaseOperation,
  ReserveOperation,
} from "./core/operation.js";
export type { ExhaustionPolicy, Policies } from "./core/policy.js";
export { NoRoomError, RefusedError } from "./core/refused.js";
export { suggestExtension } from "./core/suggestion.js";
export type { Time } from "./core/time.js";
export { type CallKind, estimateTokens } from "./core/usage.js";
export {
  type Calibrated,
  type CalibrationOptions,
  type CalibrationRow,
  calibration,
} from "./foresight/calibration.js";
export type { Estimate, Expected, Source, SourcedOpinion } from "./foresight/estimate.js";
export type { Preflight, PreflightDimension, PreflightPolicy } from "./foresight/preflight.js";
export type { JsonSchema, JsonSchemaKeywords } from "./json-schema/json-schema.js";
export type { Batches, BatchTerms } from "./ports/batches.js";
export type { Clock } from "./ports/clock.js";
export type { Known, Opinion, Prediction, Predictor, Question } from "./ports/foresight.js";
export type {
  AnswerCut,
  Calling,
  CallSite,
  Choosing,
  Model,
  ModelAnswer,
  ModelChoice,
  Pricing,
  ReusedAnswer,
  SitedAnswer,
  SitedCall,
} from "./ports/model.js";
export type { Asked, Execution, Output, OwnEffect, Played, Program, ProgramTerms, Stage } from "./ports/program.js";
export type {
  GuestAnswer,
  GuestMoment,
  GuestOptions,
  GuestOutput,
  GuestResult,
  GuestSession,
  GuestTurn,
  GuestUsage,
  Sandbox,
} from "./ports/sandbox.js";
export type { Beginning, Latest, Oldest, Outcomes, Store, Topic } from "./ports/store.js";
export type { HysteresisOptions, KnownCapability, TierListOptions, TierOptions, TiersOptions } from "./ports/tiers.js";
export type { Timer } from "./ports/timer.js";
export {
  type AgentContext,
  type AgentOptions,
  defineAgent,
  type ModelOptions,
  type PinOptions,
  type SpawnBudget,
} from "./runs/agent.js";
export { AnnouncedStore } from "./runs/announced-store.js";
export { answersOf } from "./runs/answers.js";
export {
  type ApprovalKind,
  type ApprovalRequest,
  type ApprovalStatus,
  type Decided,
  type RequestNeeds,
  readApproval,
  type WaitingCalls,
} from "./runs/approval.js";
export { Bursar, openBursar, type ResumeOptions } from "./runs/bursar.js";
export type { BursarOptions, ForesightOptions } from "./runs/bursar-options.js";
export { isAnyStop, runOfCheckpoint } from "./runs/checkpoint.js";
export { type Claim, claimOf, isInterrupted } from "./runs/claim.js";
export { ApprovalError, type ApproveOptions, type DenyOptions, findNamed, pendingRequests } from "./runs/decisions.js";
export type { Asking, CallDeed, ChildGrant, ChildRequest, Deed, Doing, Handler, Handlers, Made } from "./runs/deed.js";
export type { DefaultOrigin, DefaultTerms } from "./runs/default-terms.js";
export {
  ClaimLostError,
  GuestUnavailableError,
  NotEquippedError,
  ProgramChangedError,
  ReplayError,
  RunError,
  type WrittenError,
} from "./runs/error.js";
export { execHandler } from "./runs/exec.js";
export type { Expectation } from "./runs/expectation.js";
export { type ExtensionWish, requestExtension } from "./runs/extension-request.js";
export { type HostCallOptions, handleHostCallGoverned } from "./runs/governed.js";
export type { GovernedFetch } from "./runs/governed-fetch.js";
export type { GovernedFiles } from "./runs/governed-files.js";
export { type GuestSource, guestProgram, type OpenSandbox, reviveGuest } from "./runs/guest.js";
export type { BudgetExtend, ExecutionHints } from "./runs/hints.js";
export type { AnswerEntry, Answered } from "./runs/journal.js";
export type { StartOptions } from "./runs/opening.js";
export { ForbiddenError, type Principal } from "./runs/principal.js";
export {
  type Failure,
  hasEnded,
  type Pause,
  type ProgramRef,
  type RunCancellation,
  type RunRecord,
  type RunStatus,
  readRun,
} from "./runs/record.js";
export { currentRequest } from "./runs/request-needs.js";
export type { Denial, RunResult } from "./runs/result.js";
export { type RunWithRequests, runWithRequests } from "./runs/run-with-requests.js";
export { sessionBudget, tenantSession } from "./runs/session-budget.js";
export { checkSessionName, SESSION_NAME } from "./runs/session-name.js";
export type { TermOrigin, TermOrigins } from "./runs/terms.js";
export { defineTool, type Tool, type ToolArguments, type ToolContext, type ToolOptions } from "./runs/tool.js";
export { getToolInputSchema, type ToolInput } from "./runs/tool-input.js";
export { Webhook, type WebhookOptions } from "./runs/webhook.js";
export { WORKER_SLOTS, Worker, type WorkerOptions } from "./runs/worker.js";
export { type StoredVerification, type VerifyStoredOptions, verifyStored } from "./runtime/anchors.js";
export type { BudgetWarning } from "./runtime/budget-warning.js";
export {
  type Approval,
  type BudgetCheckResult,
  BudgetContext,
  type BudgetContextOptions,
  type CallResult,
  type PreCall,
} from "./runtime/context.js";
export { type Ed25519, ed25519, headSigner, type SigningKeys, sha256Hex } from "./runtime/crypto.js";
export {
  type HolderState,
  HoldWatch,
  holdWatchFor,
  type ProcessHolds,
  settleHold,
} from "./runtime/dead-holds.js";
export {
  type Effected,
  Gate,
  type Gated,
  type GatedCall,
  type GateOptions,
  type OpenOptions,
} from "./runtime/gate.js";
export { checkBudgetPreCall, recordBudgetConsumption } from "./runtime/host.js";
export type { KnownHolder } from "./runtime/process-holder.js";
export { type ApprovalQuestion, currentPurse, type Hold, type Purse, withPurse } from "./runtime/purse.js";
export { extractUsage } from "./runtime/reported-usage.js";
export { SettlementError } from "./runtime/settlement-error.js";
export {
  type CheckedSample,
  type SampledChecks,
  type SampledDefect,
  type StoreChecks,
  Sweeper,
  type SweeperOptions,
  type Swept,
} from "./runtime/sweeper.js";
export { systemClock, systemTimer } from "./runtime/system-clock.js";
export { OutOfTime } from "./runtime/time-limit.js";
export { StoreError, type StoreFault } from "./stores/durable/errors.js";
export { type KeepOptions, MemoryStore, type MemoryStoreOptions } from "./stores/memory.js";
export { type OpenStoreOptions, openStore } from "./stores/open.js";
