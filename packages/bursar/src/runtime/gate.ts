import { setMaxListeners } from "node:events";
import type { Amounts } from "../core/amount.js";
import type { BudgetId, Path, Scope } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import type { Opening } from "../core/children.js";
import type { Decision } from "../core/decision.js";
import { InputError, LedgerError, show } from "../core/errors.js";
import { Events } from "../core/events.js";
import { explainDecision } from "../core/explain.js";
import { checkKeys, checkWait } from "../core/fields.js";
import {
  type BudgetAmounts,
  type BudgetLimits,
  type BudgetPolicies,
  defaultLimits,
  readAmounts,
  readLimits,
  readPolicies,
} from "../core/input.js";
import type { Notice } from "../core/notice.js";
import type { CommitOperation, OpenOperation, Operation, OutcomeOf, ReserveOperation } from "../core/operation.js";
import { timeLeft } from "../core/time-left.js";
import { estimateTokens, isSilent } from "../core/usage.js";
import type { Clock } from "../ports/clock.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { offAbort, onAbort } from "./abort-listeners.js";
import { type BudgetWarning, warningsOf } from "./budget-warning.js";
import { type HoldWatch, holdWatchFor } from "./dead-holds.js";
import type { Filling } from "./filling.js";
import {
  checkEffected,
  type Effect,
  type Effected,
  type Gated,
  type GatedCall,
  type SettledCall,
} from "./gated-call.js";
import { newName } from "./names.js";
import { holderFor, type ProcessHolder } from "./process-holder.js";
import { type Attempt, Queue } from "./queue.js";
import { extractUsage } from "./reported-usage.js";
import { SettlementError } from "./settlement-error.js";
import { systemTimer } from "./system-clock.js";
import { TimeLimit } from "./time-limit.js";
import { untilAborted } from "./until-aborted.js";

export type { Effect, Effected, Gated, GatedCall } from "./gated-call.js";

export interface GateOptions {
  readonly store: Store;
  /** The store's own unless another is given. */
  readonly clock?: Clock;
  readonly timer?: Timer;
  /** How long a call waits for holds in flight unless it says otherwise: 30,000. */
  readonly wait_ms?: number;
}

/** A budget to be opened, in edge units. */
export interface OpenOptions {
  /** Absent keys take the defaults of the table; null is no limit. In a child, absent is no limit at this node. */
  readonly limits?: BudgetLimits;
  readonly parent?: BudgetId;
  readonly scope?: Scope;
  readonly policies?: BudgetPolicies;
  readonly thresholds?: readonly number[];
  readonly deadline?: Date | null;
}

type NamedCall = GatedCall & { readonly call_id: CallId };

/** The answer to a reservation. */
interface Answer {
  readonly decision: Decision;
  readonly granted: Amounts;
  /** How many milliseconds the path has left; null where that is not known. */
  readonly left: number | null;
}

/** A call with what it asks for, and the process that holds it, if that is known by name. */
interface HeldCall {
  readonly call: GatedCall;
  readonly call_id: CallId;
  readonly asked: Amounts;
  readonly holder: string | null;
  /** What budgets have told at its reservation, which may take several tries. */
  readonly notices: Notice[];
  /** The path of its budget, once that was needed. */
  path?: Path;
}

type Made<Value> = Effected<Value> | { readonly error: unknown };

const WAIT_MS = 30_000;
const EXPIRES_MS = 15 * 60_000;
/** A reservation of a process that is known by name is settled once that process is gone, and at last after a day. */
const LONGEST_HELD_MS = 24 * 60 * 60_000;
/** How often a call that waits has it looked which of the others' holders are gone. */
const HOLDS_LOOK_MS = 5000;
/** How often a call that waits looks again by itself, for holds whose holders have died. */
const LOOK_MS = 1000;
const CALL_KEYS = [
  "budget",
  "capability_id",
  "kind",
  "asked",
  "least",
  "ledger",
  "input",
  "call_id",
  "step_id",
  "wait_ms",
  "signal",
  "expires_ms",
  "onWait",
  "seen",
  "reported",
  "alongside",
  "path",
  "inner",
  "heeds",
  "unrecorded",
  "tentative",
  "pathAfter",
];
const OPEN_KEYS = ["limits", "parent", "scope", "policies", "thresholds", "deadline"];

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
  /** How many calls are about to wait. */
  private queueing = 0;
  /** The ids it has made up itself, for calls under way: nobody else can know them. */
  private readonly own = new Set<CallId>();
  private readonly watching: Disposable;
  /** This process as others know it who share the store; null where nobody does. */
  private readonly holder: ProcessHolder | null;
  private readonly holds: HoldWatch | null;

  constructor(options: GateOptions) {
    checkKeys(options, "options", ["store", "clock", "timer", "wait_ms"]);
    const { store, timer = systemTimer, wait_ms = WAIT_MS } = options;
    if (typeof store?.apply !== "function") throw new InputError("store", `is ${show(store)}; allowed: a store`);
    const { clock = store.clock } = options;
    checkWait(wait_ms, "wait_ms");
    this.store = store;
    this.clock = clock;
    this.timer = timer;
    this.wait_ms = wait_ms;
    this.events = Events.for(store.dimensions);
    this.holder = holderFor(store, timer);
    this.holds = holdWatchFor(store);
    // Who comes to wait later looks by himself.
    this.watching = store.watch(() => void (this.queue.empty || this.queue.pump()));
  }

  /**
   * Opens a budget. A root takes the defaults where it names no limit; a run under a parent is clamped to what its
   * ancestors have left.
   *
   * @example
   * ```ts
   * await gate.open("run-7", { limits: { cost_usd: 0.5 }, policies: { cost_usd: "approval_required" } });
   * ```
   */
  async open(id: BudgetId, options: OpenOptions = {}): Promise<OutcomeOf<OpenOperation>> {
    checkKeys(options, "options", OPEN_KEYS);
    const { dimensions } = this.store;
    const { parent = null, scope = "run", deadline = null } = options;
    if (deadline !== null && !(deadline instanceof Date)) {
      throw new InputError("options.deadline", `is ${show(deadline)}; allowed: a Date, or null for none`);
    }
    const defaults = parent === null && scope === "run" ? defaultLimits(dimensions) : {};
    const limits = readLimits(options.limits ?? {}, dimensions, { defaults });
    const opening: Opening = {
      id,
      scope,
      grant: { kind: "limits", limits, clamp: scope === "run" },
      policies: readPolicies(options.policies ?? {}, dimensions),
      deadline: deadline === null ? null : deadline.getTime(),
      ...(options.thresholds === undefined ? {} : { thresholds: options.thresholds }),
    };
    const [outcome] = await this.store.apply([{ op: "open", parent, opening }]);
    return outcome;
  }

  /**
   * Makes a call inside its budget.
   *
   * @example
   * ```ts
   * const call = { budget: "run-7", capability_id: "llm", kind: "model", asked: { cost_usd: 0.02 } } as const;
   * const result = await gate.call(call, (signal) => complete(prompt, signal));
   * if (result.kind === "refused") console.log(result.message);
   * ```
   */
  async call<Value>(call: GatedCall, effect: Effect<Value>): Promise<Gated<Value>> {
    if (typeof effect !== "function") throw new InputError("effect", `is ${show(effect)}; allowed: a function`);
    const given = call?.call_id;
    const call_id = given ?? newName(this.clock.now().instant);
    if (given === undefined) this.own.add(call_id);
    // What a child is charged for has begun with its first line, which its parent's next worker knows.
    const holder = call?.kind === "child" ? null : this.holder;
    // While a call is made, this process says that it is alive.
    holder?.begin();
    try {
      const held: HeldCall = { call, call_id, asked: this.check(call), holder: holder?.id ?? null, notices: [] };
      const answer = await this.letIn(held);
      if (answer.decision.kind !== "admitted") {
        const message = explainDecision(answer.decision, this.store.dimensions);
        return { kind: "refused", decision: answer.decision, message, warnings: this.warnings(held) };
      }
      const began = this.clock.now().monotonic;
      const isKnown = answer.left !== null && answer.left > 0;
      const path = isKnown ? [] : await this.pathFor(held);
      const left = isKnown ? answer.left : timeLeft(path, this.clock.now(), this.store.dimensions);
      const limit = left === Number.POSITIVE_INFINITY ? null : this.limitOn(held, left, path);
      const outer = limit?.signal ?? call.signal;
      if (outer?.aborted) {
        // Nothing was made, so nothing is charged.
        limit?.[Symbol.dispose]();
        await this.giveBack(call_id);
        throw outer.reason;
      }
      const made = await makeEffect(call, effect, outer, answer.granted);
      limit?.[Symbol.dispose]();
      const settled = await this.settle(held, made, began);
      const warnings = this.warnings(held, settled.settled.notices);
      return "error" in made
        ? { kind: "failed", error: made.error, ...settled, warnings }
        : { kind: "done", value: made.value, ...settled, warnings };
    } finally {
      holder?.end();
      if (given === undefined) this.own.delete(call_id);
    }
  }

  private warnings({ notices }: HeldCall, settled: readonly Notice[] = []): readonly BudgetWarning[] {
    return notices.length + settled.length === 0
      ? NO_WARNINGS
      : warningsOf([...notices, ...settled], this.store.dimensions);
  }

  /** Reserves what a call asks for, waiting while budgets are busy. Whoever is admitted has to settle the call. */
  async admit(call: NamedCall): Promise<Decision> {
    // It outlives this process: whoever it is handed to settles it.
    const held: HeldCall = { call, call_id: call?.call_id, asked: this.check(call), holder: null, notices: [] };
    return (await this.letIn(held)).decision;
  }

  /** Looks at a call as it came, and gives what it asks for. */
  private check(call: GatedCall): Amounts {
    checkKeys(call, "call", CALL_KEYS);
    if (call.wait_ms !== undefined) checkWait(call.wait_ms, "call.wait_ms");
    if (call.expires_ms !== undefined) checkWait(call.expires_ms, "call.expires_ms");
    call.signal?.throwIfAborted();
    return call.ledger?.asked ?? this.read({ steps: 1, ...call.asked }, "asked");
  }

  /** Reserves at once where no call waits; one that is blocked by others, or finds a budget busy, waits its turn. */
  private async letIn(held: HeldCall): Promise<Answer> {
    const isAlone = this.queue.empty && this.queueing === 0;
    if (held.call.tentative === true) {
      return isAlone ? this.reserve(held, false) : { decision: QUEUED, granted: held.asked, left: null };
    }
    const answer = isAlone ? await this.reserve(held, false) : await this.behindOthers(held);
    return answer.decision.kind === "busy" ? this.queued(held, answer) : answer;
  }

  private async behindOthers(held: HeldCall): Promise<Answer> {
    const { call, asked } = held;
    // Where another call is about to wait, this one asks the store after it, and so learns of the answer after it.
    const known = this.queueing === 0 ? call.path : undefined;
    held.path ??= known ?? (await this.store.path(call.budget));
    const isBlocked = call.inner !== true && this.queue.blocks(askedOn(held.path));
    return isBlocked ? { decision: QUEUED, granted: asked, left: null } : this.reserve(held, false);
  }

  /** Waits where a budget is busy, until the call is let in or gives up. */
  private async queued(held: HeldCall, first: Answer): Promise<Answer> {
    const { call, call_id } = held;
    call.onWait?.();
    // Until it is known where a call waits, no call that comes later may pass it. Nothing is awaited between this and the queue.
    this.queueing++;
    try {
      held.path ??= call.path ?? (await this.store.path(call.budget));
    } finally {
      this.queueing--;
    }
    const { path } = held;
    let answer = first;
    const attempt: Attempt = {
      path: askedOn(path),
      reserve: async () => {
        answer = await this.reserve(held, true);
        return answer.decision;
      },
      release: () => this.giveBack(call_id),
    };
    const decision = await this.wait(attempt, first.decision, path, call);
    if (decision.kind === "busy" && call.unrecorded !== true) await this.gaveUp(held, decision);
    return { decision, granted: answer.granted, left: answer.left };
  }

  [Symbol.dispose](): void {
    this.watching[Symbol.dispose]();
  }

  /** Waits no longer than the call is ready to, and looks again when a clock, a deadline or a dead hold may have changed things. */
  private async wait(attempt: Attempt, busy: Decision, path: Path, call: GatedCall): Promise<Decision> {
    const patience = new AbortController();
    const give = () => patience.abort();
    const look = () => void this.queue.pump();
    const left = timeLeft(path, this.clock.now(), this.store.dimensions);
    const patient = this.timer.after(call.wait_ms ?? this.wait_ms, give);
    const late = left === Number.POSITIVE_INFINITY ? null : this.timer.after(left, look);
    let next = this.timer.after(LOOK_MS, again);
    const { timer } = this;
    function again(): void {
      look();
      next = timer.after(LOOK_MS, again);
    }
    onAbort(call.signal, give);
    if (call.signal?.aborted) give();
    try {
      const waiting = this.queue.wait(attempt, busy, patience.signal);
      look();
      return await waiting;
    } finally {
      for (const alarm of [patient, late, next]) alarm?.[Symbol.dispose]();
      offAbort(call.signal, give);
    }
  }

  /** Whoever has to wait settles the reservations of dead holders first, so that they do not stand in anybody's way. */
  private async reserve({ call, call_id, asked, holder, notices: told }: HeldCall, sweeping: boolean): Promise<Answer> {
    // Where this process is known to be alive, its calls may take as long as they do.
    const { expires_ms = holder === null ? EXPIRES_MS : LONGEST_HELD_MS } = call;
    const expires = this.clock.now().instant + expires_ms;
    const { budget, kind = "tool" } = call;
    const least = call.ledger === undefined ? call.least && this.read(call.least, "least") : call.ledger.least;
    const { step_id = call_id, capability_id } = call;
    const learned = call.ledger?.learned;
    const reserve: Filling<ReserveOperation> = {
      op: "reserve",
      budget,
      call: call_id,
      kind,
      asked,
      expires,
      step_id,
      capability_id,
    };
    if (least !== undefined) reserve.least = least;
    if (learned !== undefined) reserve.learned = learned;
    if (call.inner === true) reserve.inner = true;
    if (call.unrecorded === true) reserve.unrecorded = true;
    if (call.tentative === true) reserve.tentative = true;
    if (holder !== null) reserve.holder = holder;
    if (sweeping) {
      await this.store.apply([{ op: "expire" }]);
      await this.holds?.settleDeadEvery(HOLDS_LOOK_MS);
    }
    const before = this.clock.now().monotonic;
    try {
      const [{ decision, granted, notices, repeated, left_ms }] = await this.store.apply([reserve]);
      if (notices.length > 0) told.push(...notices);
      if (!repeated) return { decision, granted, left: this.leftNow(left_ms, before) };
    } catch (error) {
      // It may have happened all the same, with only the answer lost. Under an id that was given to us, it may be
      // somebody else's call that we would give back, so that one is left to expire.
      if (this.own.has(call_id)) await this.giveBack(call_id);
      throw error;
    }
    throw new LedgerError(`call ${call_id} was admitted before; a further attempt needs an id of its own`);
  }

  /** What a path has left of what it had when its reservation was decided; null where that is not known. */
  private leftNow(left_ms: number | null | undefined, before: number): number | null {
    // By another clock than the store's, other instants have passed.
    if (left_ms === undefined || this.clock !== this.store.clock) return null;
    // What the store's answer took has passed since: no call begins in time that is over.
    return left_ms === null ? Number.POSITIVE_INFINITY : left_ms - (this.clock.now().monotonic - before);
  }

  /** The path of a call that was admitted. */
  private async pathFor({ call, call_id }: HeldCall): Promise<Path> {
    try {
      return call.path ?? (await this.store.path(call.budget));
    } catch (error) {
      await this.giveBack(call_id);
      throw error;
    }
  }

  private limitOn({ call: { budget, signal } }: HeldCall, left: number, path: Path): TimeLimit {
    const { clock, timer, store } = this;
    return new TimeLimit(
      { clock, timer, dimensions: store.dimensions, path: () => store.path(budget) },
      path,
      signal,
      left,
    );
  }

  /** Records what was used. A store that fails once may only have been slow, and a commit counts once. */
  private async settle({ call, call_id }: HeldCall, made: Made<unknown>, began: number): Promise<SettledCall> {
    const { value, usage, used, alongside } = "error" in made ? failed(call, made.error) : made;
    const read = used === undefined ? extractUsage(usage, this.store.dimensions) : null;
    const amounts = used ?? read?.amounts ?? {};
    const took = read?.duration_ms ?? Math.max(0, Math.round(this.clock.now().monotonic - began));
    const reported = { op: "commit", call: call_id, used: amounts, duration_ms: took } as const;
    const silent = isSilent(call.kind, call.ledger?.asked ?? call.asked ?? {}, amounts);
    const commit: CommitOperation = silent ? { ...reported, ...this.guess(call, value) } : reported;
    const also = call.alongside === undefined ? alongside : [...call.alongside(amounts), ...(alongside ?? [])];
    const operations: readonly [CommitOperation, ...Operation[]] = [commit, ...(also ?? [])];
    for (let again = false; ; again = true) {
      try {
        if (call.pathAfter !== true) return { settled: (await this.store.apply(operations))[0] };
        const outcomes = await this.store.apply([...operations, { op: "look", budget: call.budget }]);
        const looked = outcomes.at(-1);
        return { settled: outcomes[0], ...(looked?.op === "look" && { path: looked.path }) };
      } catch (cause) {
        if (again) throw new SettlementError(call_id, value, cause);
      }
    }
  }

  /** What stands in for a report that is missing. To write down what was sent and what came back takes a while, so nobody else pays for it. */
  private guess(call: GatedCall, value: unknown): Pick<CommitOperation, "estimate" | "seen"> {
    const estimate = estimateTokens(call.input ?? "", value ?? "");
    const seen = call.seen?.() ?? null;
    return seen === null ? { estimate } : { estimate, seen: this.read(seen, "seen") };
  }

  private read(amounts: BudgetAmounts, field: string): Amounts {
    return readAmounts(amounts, this.store.dimensions, { field });
  }

  /** Gives a reservation back as well as can be: what is left behind expires in the end. */
  private async giveBack(call: CallId): Promise<void> {
    const release = () => this.store.apply([{ op: "release", call }]);
    await release()
      .catch(release)
      .catch(() => {});
  }

  /** Waiting in vain is no exhaustion, but it is not passed over in silence either. */
  private async gaveUp({ call, call_id, asked }: HeldCall, decision: Decision): Promise<void> {
    const { step_id = call_id, capability_id } = call;
    const action = this.events.stepRefused(call.budget, { step_id, capability_id }, asked, decision);
    await this.store.apply([{ op: "record", budget: call.budget, action }]);
  }
}

const NO_WARNINGS: readonly BudgetWarning[] = Object.freeze([]);

const QUEUED: Decision = Object.freeze({ kind: "busy", findings: Object.freeze([]) });

/** The budgets a call asks. Those above a budget whose limits they hold are not asked, so it waits for nobody there. */
function askedOn(path: Path): readonly BudgetId[] {
  const last = path.findIndex(({ funding }) => funding !== "path");
  return path.slice(0, last === -1 ? path.length : last + 1).map(({ id }) => id);
}

/** What an effect has given or thrown. What it gives must not be lost to a fault elsewhere, so nothing else is done here. */
async function makeEffect<Value>(
  { heeds }: GatedCall,
  effect: Effect<Value>,
  outer: AbortSignal | undefined,
  granted: Amounts,
): Promise<Made<Value>> {
  try {
    const making = effect(outer ?? signalFor(effect), granted);
    // One that does not listen to its signal is left behind, because the run has to end at that moment.
    return checkEffected(await (outer === undefined || heeds === true ? making : untilAborted(making, outer)));
  } catch (error) {
    return { error };
  }
}

/** One for all effects that take none: to make a signal for each call takes longer than to decide on it. */
const NEVER_FIRES = new AbortController().signal;
setMaxListeners(0, NEVER_FIRES);

function signalFor(effect: Effect<unknown>): AbortSignal {
  return effect.length === 0 ? NEVER_FIRES : new AbortController().signal;
}

/** An effect that has failed carries its usage in its error. */
function failed({ reported }: GatedCall, error: unknown): Effected<undefined> {
  const used = reported?.() ?? null;
  return { value: undefined, usage: error, ...(used !== null && { used }) };
}
