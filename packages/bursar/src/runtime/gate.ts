import { randomUUID } from "node:crypto";
import type { Amounts } from "../core/amount.js";
import type { BudgetId, Path } from "../core/budget.js";
import { freeOf } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import type { Decision } from "../core/decision.js";
import { LedgerError } from "../core/errors.js";
import { Events, type Step } from "../core/events.js";
import { type BudgetAmounts, readAmounts } from "../core/input.js";
import type { CommitOperation, OutcomeOf } from "../core/operation.js";
import { type CallKind, estimateTokens, extractUsage } from "../core/usage.js";
import type { Clock } from "../ports/clock.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { Queue } from "./queue.js";
import { systemClock, systemTimer } from "./system-clock.js";

export interface GateOptions {
  readonly store: Store;
  readonly clock?: Clock;
  readonly timer?: Timer;
  /** How long a call waits for holds in flight unless it says otherwise. */
  readonly wait_ms?: number;
}

/** A call that wants to be made. */
export interface GatedCall {
  readonly budget: BudgetId;
  readonly capability_id: string;
  readonly kind?: CallKind;
  /** The most it may use, in edge units. One step is added when none is named. */
  readonly asked?: BudgetAmounts;
  /** What is sent, for the estimate where the other side reports no usage. */
  readonly input?: unknown;
  readonly call_id?: CallId;
  readonly step_id?: string;
  readonly wait_ms?: number;
  readonly signal?: AbortSignal;
  /** When a dead holder's reservation is settled; the longest the call can take, with room to spare. */
  readonly expires_ms?: number;
}

/** What an effect gives back: its value, and anything that may carry usage. */
export interface Effected<Value> {
  readonly value: Value;
  readonly usage?: unknown;
}

/** How a governed call ended. A refusal is no exception: nothing was called. */
export type Gated<Value> =
  | { readonly kind: "done"; readonly value: Value; readonly settled: OutcomeOf<CommitOperation> }
  | { readonly kind: "failed"; readonly error: unknown; readonly settled: OutcomeOf<CommitOperation> }
  | { readonly kind: "refused"; readonly decision: Decision };

const WAIT_MS = 30_000;
const EXPIRES_MS = 15 * 60_000;

/**
 * The one way to an effect: quote, reserve over the whole path, do, commit. A call that does not fit is not made; one that
 * finds a budget busy waits its turn.
 */
export class Gate implements Disposable {
  private readonly store: Store;
  private readonly clock: Clock;
  private readonly timer: Timer;
  private readonly events: Events;
  private readonly wait_ms: number;
  private readonly queue = new Queue();
  private readonly watching: Disposable;

  constructor({ store, clock = systemClock, timer = systemTimer, wait_ms = WAIT_MS }: GateOptions) {
    this.store = store;
    this.clock = clock;
    this.timer = timer;
    this.wait_ms = wait_ms;
    this.events = new Events(store.dimensions);
    this.watching = store.watch(() => void this.queue.pump());
  }

  /**
   * Makes a call inside its budget.
   *
   * @example
   * ```ts
   * const result = await gate.call({ budget: "run-7", capability_id: "llm", kind: "model", asked: { cost_usd: 0.02 } }, (signal) => complete(prompt, signal));
   * if (result.kind === "refused") console.log(result.decision.findings[0]);
   * ```
   */
  async call<Value>(call: GatedCall, effect: (signal: AbortSignal) => Promise<Effected<Value>>): Promise<Gated<Value>> {
    const call_id = call.call_id ?? randomUUID();
    const decision = await this.admit({ ...call, call_id });
    if (decision.kind !== "admitted") return { kind: "refused", decision };
    const began = this.clock.now().monotonic;
    const time = await this.limitTime(call, call_id);
    try {
      const { value, usage } = await untilAborted(effect(time.signal), time.signal);
      return { kind: "done", value, settled: await this.settle(call, call_id, usage, value, began) };
    } catch (error) {
      return { kind: "failed", error, settled: await this.settle(call, call_id, error, "", began) };
    } finally {
      time[Symbol.dispose]();
    }
  }

  /** Reserves what a call asks for, waiting while budgets are busy. Whoever is admitted has to settle the call. */
  async admit(call: GatedCall & { readonly call_id: CallId }): Promise<Decision> {
    const asked = readAmounts({ steps: 1, ...call.asked }, this.store.dimensions, { field: "asked" });
    const path = (await this.store.path(call.budget)).map(({ id }) => id);
    const attempt = () => this.reserve(call, asked);
    const first = this.queue.blocks(path) ? QUEUED : await attempt();
    if (first.kind !== "busy") return first;
    const patience = new AbortController();
    const alarm = this.timer.after(call.wait_ms ?? this.wait_ms, () => patience.abort());
    const signal = call.signal === undefined ? patience.signal : AbortSignal.any([patience.signal, call.signal]);
    try {
      const waiting = this.queue.wait(path, first, attempt, signal);
      void this.queue.pump();
      const decision = await waiting;
      if (decision.kind === "busy") await this.gaveUp(call, asked, decision);
      return decision;
    } finally {
      alarm[Symbol.dispose]();
    }
  }

  [Symbol.dispose](): void {
    this.watching[Symbol.dispose]();
  }

  private async reserve(call: GatedCall & { readonly call_id: CallId }, asked: Amounts): Promise<Decision> {
    const expires = this.clock.now().instant + (call.expires_ms ?? EXPIRES_MS);
    const { budget, kind = "tool" } = call;
    const [{ decision, repeated }] = await this.store.apply([
      { op: "reserve", budget, call: call.call_id, kind, asked, expires, ...stepOf(call) },
    ]);
    if (repeated)
      throw new LedgerError(`call ${call.call_id} was admitted before; a second attempt needs an id of its own`);
    return decision;
  }

  private async settle(
    call: GatedCall,
    id: CallId,
    usage: unknown,
    output: unknown,
    began: number,
  ): Promise<OutcomeOf<CommitOperation>> {
    const { amounts, duration_ms } = extractUsage(usage, this.store.dimensions);
    const estimate = estimateTokens(call.input ?? "", output);
    const took = duration_ms ?? Math.round(this.clock.now().monotonic - began);
    const [outcome] = await this.store.apply([{ op: "commit", call: id, used: amounts, estimate, duration_ms: took }]);
    return outcome;
  }

  /** Waiting in vain is no exhaustion, but it is not passed over in silence either. */
  private async gaveUp(
    call: GatedCall & { readonly call_id: CallId },
    asked: Amounts,
    decision: Decision,
  ): Promise<void> {
    const action = this.events.stepRefused(call.budget, stepOf(call), asked, decision);
    await this.store.apply([{ op: "record", budget: call.budget, action }]);
  }

  /** A signal that fires when a clock or a deadline on the path runs out, or when the caller's own does. */
  private async limitTime({ budget, signal }: GatedCall, call: CallId): Promise<Disposable & { signal: AbortSignal }> {
    const path = await this.store.path(budget).catch(async (error: unknown) => {
      await this.store.apply([{ op: "release", call }]);
      throw error;
    });
    const left = this.timeLeft(path);
    const controller = new AbortController();
    const ring = () => controller.abort(new OutOfTime());
    const alarm = left === Number.POSITIVE_INFINITY ? null : this.timer.after(left, ring);
    return {
      signal: signal === undefined ? controller.signal : AbortSignal.any([controller.signal, signal]),
      [Symbol.dispose]: () => alarm?.[Symbol.dispose](),
    };
  }

  private timeLeft(path: Path): number {
    const time = this.clock.now();
    const clocks = this.store.dimensions.all.filter(({ kind }) => kind === "clock");
    const left = path.flatMap((budget) => [
      ...clocks.flatMap((clock) => (budget.policies[clock.id] === "soft_warn" ? [] : [freeOf(budget, clock, time)])),
      budget.deadline === null ? Number.POSITIVE_INFINITY : budget.deadline - time.instant,
    ]);
    return Math.max(0, Math.min(...left, Number.POSITIVE_INFINITY));
  }
}

/** The reason of a signal that fires because a clock or a deadline has run out. */
export class OutOfTime extends Error {
  override readonly name: string = "OutOfTime";

  constructor() {
    super("the budget's time has run out while the call was being made");
  }
}

const QUEUED: Decision = Object.freeze({ kind: "busy", findings: Object.freeze([]) });

function stepOf({ call_id = "", step_id = call_id, capability_id }: GatedCall): Step {
  return { step_id, capability_id };
}

/** An effect that does not listen to its signal is left behind, because the run has to end at that moment. */
function untilAborted<Value>(effect: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason);
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    effect.then(resolve, reject).finally(() => signal.removeEventListener("abort", abort));
  });
}
