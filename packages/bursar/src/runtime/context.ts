import { randomUUID } from "node:crypto";
import { Operations } from "../core/apply.js";
import type { Budget } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import { DEFAULT_THRESHOLDS } from "../core/children.js";
import type { Finding } from "../core/decision.js";
import { writeAmount } from "../core/dimension.js";
import { type Dimensions, STANDARD } from "../core/dimensions.js";
import { InputError, LedgerError } from "../core/errors.js";
import { Events } from "../core/events.js";
import { checkKeys } from "../core/fields.js";
import {
  type BudgetAmounts,
  type BudgetLimits,
  type BudgetPolicies,
  defaultLimits,
  readAmounts,
  readExtension,
  readLimits,
  readPolicies,
  readThresholds,
} from "../core/input.js";
import { MemoryBooks } from "../core/memory-books.js";
import type { Notice } from "../core/notice.js";
import type { CommitOperation, Operation, OutcomeOf } from "../core/operation.js";
import type { ExhaustionPolicy } from "../core/policy.js";
import { type CallKind, estimateTokens } from "../core/usage.js";
import type { Clock } from "../ports/clock.js";
import { type BudgetWarning, warningsOf } from "./budget-warning.js";
import { sha256Hex } from "./crypto.js";
import { extractUsage } from "./reported-usage.js";
import { systemClock } from "./system-clock.js";

export interface BudgetContextOptions {
  readonly run_id?: string;
  /** Absent keys take the defaults of the table; null is no limit. */
  readonly limits?: BudgetLimits;
  readonly policies?: BudgetPolicies;
  readonly thresholds?: readonly number[];
  /** Limits of the session the run belongs to: they clamp the run's own. */
  readonly session_budget_limits?: BudgetLimits;
  readonly dimensions?: Dimensions;
  readonly clock?: Clock;
}

/** A call before it is made. */
export interface PreCall {
  /** What makes it count once; made up when absent. */
  readonly call_id?: CallId;
  readonly step_id?: string;
  readonly capability_id?: string;
  readonly kind?: CallKind;
  /** The most it may use. One step is added when none is named. */
  readonly asked?: BudgetAmounts;
}

/** What the result of a call says of itself. */
export interface CallResult {
  /** Anything that may carry usage under the usual names. */
  readonly metadata?: unknown;
  /** Serialized for the estimate, when the provider reports nothing. */
  readonly input?: unknown;
  readonly output?: unknown;
}

/**
 * The answer of the pre-call check. Only `proceed` lets the call be made; the call id is what its consumption is recorded under.
 * Each threshold that was crossed is in the `warnings` of one answer: of the next check that is not `busy`.
 */
export type BudgetCheckResult =
  | { readonly kind: "ok"; readonly proceed: true; readonly call_id: CallId }
  | {
      readonly kind: "warning";
      readonly proceed: true;
      readonly call_id: CallId;
      readonly warnings: readonly BudgetWarning[];
    }
  | ({
      readonly kind: "exhausted";
      readonly policy: ExhaustionPolicy;
      readonly warnings: readonly BudgetWarning[];
    } & ({ readonly proceed: true; readonly call_id: CallId } | { readonly proceed: false }) &
      Exhaustion)
  | ({ readonly kind: "busy"; readonly proceed: false } & Exhaustion);

interface Exhaustion {
  readonly dimension: string;
  readonly refusal: Finding["refusal"];
  readonly consumed: number;
  readonly limit: number;
}

const OPTIONS = ["run_id", "limits", "policies", "thresholds", "session_budget_limits", "dimensions", "clock"];
const PRE_CALL = ["call_id", "step_id", "capability_id", "kind", "asked"];
const CALL_RESULT = ["metadata", "input", "output"];

/**
 * The budget of one run in one process: checked before every call, recorded after it, extended by people. Every event is
 * in its chain.
 *
 * @example
 * ```ts
 * const context = new BudgetContext({ limits: { steps: 10, cost_usd: 0.5 } });
 * const check = context.checkPreCall({ capability_id: "search", asked: { cost_usd: 0.01 } });
 * if (check.proceed) context.recordConsumption(check.call_id, { metadata: { total_cost_usd: 0.004 } });
 * ```
 */
export class BudgetContext {
  readonly run_id: string;
  /** When the run began, in milliseconds since 1970. */
  readonly start_time: number;
  private readonly dimensions: Dimensions;
  private readonly clock: Clock;
  private readonly books = new MemoryBooks(sha256Hex);
  private readonly operations: Operations;
  private readonly events: Events;
  private readonly warned = new Set<string>();
  /** Warnings that no check has told yet, in the order of their links. */
  private untold: readonly Notice[] = [];

  constructor(options: BudgetContextOptions = {}) {
    checkKeys(options, "options", OPTIONS);
    this.dimensions = options.dimensions ?? STANDARD;
    this.clock = options.clock ?? systemClock;
    this.operations = new Operations(this.dimensions);
    this.events = new Events(this.dimensions);
    this.run_id = options.run_id ?? "run";
    this.start_time = this.clock.now().instant;
    const session = options.session_budget_limits;
    const field = { field: "session_budget_limits" };
    const parent = session === undefined ? null : `${this.run_id}/session`;
    const limits = readLimits(options.limits ?? {}, this.dimensions, { defaults: defaultLimits(this.dimensions) });
    const policies = readPolicies(options.policies ?? {}, this.dimensions);
    const thresholds = readThresholds(options.thresholds ?? DEFAULT_THRESHOLDS);
    if (parent !== null) {
      const grant = { kind: "limits", limits: readLimits(session, this.dimensions, field) } as const;
      this.apply({ op: "open", parent: null, opening: { id: parent, scope: "shared", grant } });
    }
    const grant = { kind: "limits", limits, clamp: true } as const;
    const opening = { id: this.run_id, scope: "run", grant, policies, thresholds } as const;
    const { budget } = this.apply({ op: "open", parent, chain: this.run_id, opening });
    if (budget === null) throw new InputError("session_budget_limits", "leave nothing for a run");
  }

  /** Holds what the call may use at most, or says why not. */
  checkPreCall(call: PreCall = {}): BudgetCheckResult {
    checkKeys(call, "call", PRE_CALL);
    const call_id = call.call_id ?? randomUUID();
    const asked = readAmounts({ steps: 1, ...call.asked }, this.dimensions, { field: "asked" });
    const { step_id, capability_id, kind = "tool" } = call;
    const { decision, repeated } = this.apply({
      op: "reserve",
      budget: this.run_id,
      call: call_id,
      kind,
      asked,
      ...(step_id === undefined ? {} : { step_id }),
      ...(capability_id === undefined ? {} : { capability_id }),
    });
    // Somebody holds this call already: letting it pass again would make it twice.
    if (repeated)
      throw new LedgerError(`call ${call_id} was admitted before; a further attempt needs an id of its own`);
    const [worst] = decision.findings;
    if (decision.kind === "busy" && worst !== undefined) return { kind: "busy", proceed: false, ...this.about(worst) };
    const warnings = this.tellWarnings();
    if (worst === undefined) {
      return warnings.length === 0
        ? { kind: "ok", proceed: true, call_id }
        : { kind: "warning", proceed: true, call_id, warnings };
    }
    const exhausted = { kind: "exhausted", policy: worst.policy, warnings, ...this.about(worst) } as const;
    return decision.kind === "admitted" ? { ...exhausted, proceed: true, call_id } : { ...exhausted, proceed: false };
  }

  /**
   * Records what a call used: as its result reports, else as it was reserved, marked as estimated. Recorded again, it
   * counts once; a late report corrects an estimate.
   */
  recordConsumption(call_id: CallId, result: CallResult = {}): OutcomeOf<CommitOperation> {
    checkKeys(result, "result", CALL_RESULT);
    const { amounts, duration_ms } = extractUsage(result.metadata, this.dimensions);
    const estimate = estimateTokens(result.input ?? "", result.output ?? "");
    return this.apply({
      op: "commit",
      call: call_id,
      used: amounts,
      estimate,
      ...(duration_ms === null ? {} : { duration_ms }),
    });
  }

  /** Gives back what was held for a call that was not made. */
  release(call_id: CallId): void {
    this.apply({ op: "release", call: call_id });
  }

  /** Adds to a limit, or to several at once: all of it or nothing. Never called on behalf of the agent itself. */
  extend(dimension: string, amount: number, by?: Approval): void;
  extend(additional: BudgetAmounts, by?: Approval): void;
  extend(what: string | BudgetAmounts, amountOrBy?: number | Approval, by?: Approval): void {
    const [amounts, approval] =
      typeof what === "string" ? [{ [what]: amountOrBy }, by] : [what, amountOrBy as Approval | undefined];
    const additional = readExtension(amounts, this.dimensions, "extension");
    const { approved_by = "operator", reason = null } = approval ?? {};
    const { result } = this.apply({ op: "extend", budget: this.run_id, additional, approved_by, reason });
    if (result.kind === "no_room") {
      const room = writeAmount(this.dimensions.get(result.dimension), result.room);
      throw new InputError(`extension.${result.dimension}`, `has no room: budget ${result.budget} has ${room} left`);
    }
    this.forgetRearmed();
  }

  /** Stops the run's clock, as while it waits for a person. */
  pause(): void {
    this.apply({ op: "pause", budget: this.run_id });
  }

  resume(): void {
    this.apply({ op: "resume", budget: this.run_id });
  }

  /** Ends the run: its final consumption is the last thing its chain says. Ending twice does no harm. */
  complete(): void {
    if (!this.budget().ended) this.apply({ op: "end", budget: this.run_id });
  }

  /** The limits in force, with extensions, in edge units. */
  get limits(): BudgetAmounts {
    return this.events.limits(this.budget()) as BudgetAmounts;
  }

  get policies(): BudgetPolicies {
    return { ...this.budget().policies };
  }

  /** What has been used, in edge units. */
  get consumed(): BudgetAmounts {
    return this.events.consumed(this.budget(), this.clock.now()) as BudgetAmounts;
  }

  /** The limit minus what has been used, of every limited dimension, in edge units. */
  get remaining(): BudgetAmounts {
    return this.events.remaining(this.budget(), this.clock.now()) as BudgetAmounts;
  }

  /** What is held of it for calls in flight, in edge units: no other call can use that. */
  get held(): BudgetAmounts {
    return this.events.held(this.budget()) as BudgetAmounts;
  }

  /** The thresholds that have been warned of, as `dimension:percent`. */
  get warnings_issued(): ReadonlySet<string> {
    return this.warned;
  }

  /** The lines of the run's chain, ready for `verifyChain` or a file. */
  get chain(): readonly string[] {
    return this.books.lines(this.run_id);
  }

  private apply<const O extends Operation>(operation: O): OutcomeOf<O> {
    const time = this.clock.now();
    const outcome = this.books.transact(time.instant, (books) => this.operations.applyChecked(books, operation, time));
    if ("notices" in outcome) this.remember(outcome.notices);
    return outcome as OutcomeOf<O>;
  }

  private budget(): Budget {
    return this.books.budget(this.run_id) as Budget;
  }

  private tellWarnings(): readonly BudgetWarning[] {
    const warnings = warningsOf(this.untold, this.dimensions);
    this.untold = [];
    return warnings;
  }

  private remember(notices: readonly Notice[]): void {
    const warnings = notices.filter(({ kind }) => kind === "Warning");
    for (const { dimension, percent } of warnings) this.warned.add(`${dimension}:${percent}`);
    if (warnings.length > 0) this.untold = [...this.untold, ...warnings];
  }

  /** A threshold that an extension has armed again is told when it is crossed the next time. */
  private forgetRearmed(): void {
    const { thresholds, warned } = this.budget();
    this.untold = this.untold.filter(
      ({ budget, dimension, percent }) =>
        budget !== this.run_id || thresholds.indexOf(percent) < (warned[dimension] ?? 0),
    );
  }

  private about({ dimension, refusal, used, limit }: Finding): Exhaustion {
    return { dimension, refusal, consumed: this.edge(dimension, used), limit: this.edge(dimension, limit) };
  }

  private edge(id: string, value: number): number {
    return this.dimensions.has(id) ? writeAmount(this.dimensions.get(id), value) : value;
  }
}

/** Who grants an extension, and why. */
export interface Approval {
  readonly approved_by?: string;
  readonly reason?: string;
}
