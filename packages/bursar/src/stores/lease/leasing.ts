import { randomBytes } from "node:crypto";
import { hostname } from "node:os";
import { join } from "node:path";
import type { Amounts } from "../../core/amount.js";
import type { BudgetId } from "../../core/budget.js";
import { checkOperation } from "../../core/check.js";
import { cutTo } from "../../core/cut.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys, checkWait } from "../../core/fields.js";
import type {
  CommitOperation,
  Operation,
  Outcome,
  OutcomeOf,
  ReleaseOperation,
  ReserveOperation,
} from "../../core/operation.js";
import { repeatedReserve, repeatedSettlement } from "../../core/repeated.js";
import { chargeFor, withTotal } from "../../core/usage.js";
import type { Clock } from "../../ports/clock.js";
import type { Outcomes, Store, Topic } from "../../ports/store.js";
import type { Timer } from "../../ports/timer.js";
import { StoreOver } from "../../runtime/store-over.js";
import { backgroundTimer } from "../../runtime/system-clock.js";
import { Bounded } from "../durable/bounded.js";
import { StoreError } from "../durable/errors.js";
import { Listeners } from "../listeners.js";
import { Holder } from "./holder.js";
import { Line } from "./line.js";
import { LeaseLog } from "./log.js";
import { recoverLeases } from "./recovery.js";
import type { Slice, SlicedCall } from "./slice.js";

export interface LeasingStoreOptions {
  /** Where the budgets live: PostgreSQL, when many machines share them. */
  readonly store: Store;
  /** The budgets that many processes call at once. Calls in all others go straight to the store. */
  readonly budgets: readonly BudgetId[];
  /** A folder for the log of what was done with the leases. Without it a process that dies is charged for all it held. */
  readonly log?: string;
  /** What this process is called where its slices are shown; letters, digits, `.`, `_` and `-`. Several may be called alike. */
  readonly name?: string;
  readonly ttl_ms?: number;
  readonly recall_ms?: number;
  readonly clock?: Clock;
  readonly timer?: Timer;
}

const ADMITTED = Object.freeze({ kind: "admitted" as const, findings: Object.freeze([]) });
const TTL_MS = 30_000;
const KEYS = ["store", "budgets", "log", "name", "ttl_ms", "recall_ms", "clock", "timer"];
/** So many settled calls are remembered, so that a second delivery is told from a new call. */
const REMEMBERED = 20_000;
const NEWS_MS = 20;

type Settle = CommitOperation | ReleaseOperation;

/**
 * A store that leases slices of hot budgets and serves calls from them in memory, so that thousands of callers on many
 * machines share one budget at the speed of one process. It never passes a limit: a slice is reserved on the whole path
 * before anything is served from it. What is seen of a leased budget lags behind by the slices outstanding.
 *
 * @example
 * ```ts
 * await using store = await LeasingStore.open({ store: postgres, budgets: ["tenant"], log: "/var/lib/bursar/leases" });
 * const gate = new Gate({ store });
 * ```
 */
export class LeasingStore extends StoreOver {
  private readonly timer: Timer;
  private readonly ttl_ms: number;
  private readonly folder: string | null;
  private readonly name: string;
  private readonly log: LeaseLog | null;
  private readonly holders: ReadonlyMap<BudgetId, Holder>;
  private readonly lines: ReadonlyMap<BudgetId, Line>;
  private readonly listeners = new Listeners();
  private readonly watching: Disposable;
  private ticking: Disposable;
  private newsDue: NodeJS.Timeout | null = null;
  /** Calls that are being admitted right now. */
  private readonly starting = new Map<string, Promise<void>>();
  private readonly settledCalls = new Bounded<string, SlicedCall>(REMEMBERED);
  private closed = false;

  /** Begins to lease, and settles what processes that died here have left behind. */
  static async open(options: LeasingStoreOptions): Promise<LeasingStore> {
    checkKeys(options, "options", KEYS);
    const { store, budgets, log: folder = null, clock = store.clock } = options;
    if (!Array.isArray(budgets)) throw new InputError("budgets", `is ${show(budgets)}; allowed: a list of budgets`);
    for (const key of ["ttl_ms", "recall_ms"] as const) if (options[key] !== undefined) checkWait(options[key], key);
    const name = holderName(options.name);
    const now = () => Math.round(clock.now().instant);
    const { dimensions } = store;
    const path = folder === null ? null : join(folder, `${name}.jsonl`);
    const log = path === null ? null : await LeaseLog.open({ path, holder: name, dimensions, now });
    const leasing = new LeasingStore({ ...options, name }, log);
    if (folder !== null) await recoverLeases(folder, store, clock, name);
    return leasing;
  }

  private constructor(options: LeasingStoreOptions & { readonly name: string }, log: LeaseLog | null) {
    const {
      store,
      budgets,
      name,
      clock = store.clock,
      timer = backgroundTimer,
      ttl_ms = TTL_MS,
      recall_ms = 1000,
    } = options;
    super(store, clock);
    this.timer = timer;
    this.ttl_ms = ttl_ms;
    this.log = log;
    this.name = name;
    this.folder = options.log ?? null;
    const holders = budgets.map((budget) => new Holder({ store, budget, name, clock, ttl_ms, log }));
    this.holders = new Map(holders.map((holder) => [holder.budget, holder]));
    const serve = (operation: ReserveOperation, asked: Amounts) => this.serve(operation, asked);
    this.lines = new Map(holders.map((holder) => [holder.budget, new Line({ holder, store, serve, recall_ms })]));
    this.watching = store.watch(() => this.hear());
    this.ticking = this.timer.after(ttl_ms / 8, () => this.tick());
  }

  async apply<const Ops extends readonly Operation[]>(operations: Ops): Promise<Outcomes<Ops>> {
    if (this.closed) throw closedError();
    const here = operations.map((operation) => this.isHere(operation));
    const outcomes =
      here.every(Boolean) && operations.length > 0
        ? await this.applyHere(operations as readonly (ReserveOperation | Settle)[])
        : await this.applyMixed(operations);
    return outcomes as unknown as Outcomes<Ops>;
  }

  override watch(listener: () => void, topic: Topic = "amounts"): Disposable {
    if (topic !== "amounts") return super.watch(listener, topic);
    return this.listeners.add(listener);
  }

  /** Gives all slices back. The store beneath stays open: it belongs to whoever opened it. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.closed) return;
    this.closed = true;
    this.watching[Symbol.dispose]();
    this.ticking[Symbol.dispose]();
    if (this.newsDue !== null) clearTimeout(this.newsDue);
    this.listeners.clear();
    for (const line of this.lines.values()) line.end(closedError());
    const left = await Promise.allSettled([...this.holders.values()].map((holder) => holder.leave()));
    await this.log?.close();
    for (const each of left) if (each.status === "rejected") throw each.reason;
  }

  /** Whether an operation can be done from slices: a call in a leased budget, or the settlement of one. */
  private isHere(operation: Operation): boolean {
    switch (operation?.op) {
      case "reserve":
        return this.holders.has(operation.budget) && operation.must !== true;
      case "commit":
      case "release":
        return this.find(operation.call) !== null || this.settledCalls.get(operation.call) !== undefined;
      default:
        return false;
    }
  }

  /** All of a list, or none of it: what was taken for it is dropped again when a later part fails. */
  private async applyHere(operations: readonly (ReserveOperation | Settle)[]): Promise<readonly Outcome[]> {
    for (const operation of operations) checkOperation(operation, this.dimensions);
    const outcomes: Outcome[] = [];
    try {
      for (const operation of operations) outcomes.push(await this.perform(operation));
      return outcomes;
    } catch (error) {
      for (const [index, outcome] of outcomes.entries()) {
        const found = outcome.op === "reserve" && !outcome.repeated ? this.find(operations[index]?.call ?? "") : null;
        if (found !== null && found.call.charged === null) found.slice.drop(found.call);
      }
      throw error;
    }
  }

  /**
   * What belongs to slices cannot be part of the store's transaction. New calls therefore go to the store, with the rest;
   * calls made from slices are settled when that has happened.
   */
  private async applyMixed(operations: readonly Operation[]): Promise<readonly Outcome[]> {
    const settles = operations.map((operation) => operation?.op !== "reserve" && this.isHere(operation));
    const rest = operations.filter((_, index) => !settles[index]);
    const outcomes: Outcome[] = [...(await this.store.apply(rest))];
    const all: Outcome[] = [];
    for (const [index, operation] of operations.entries()) {
      all.push(settles[index] ? await this.perform(operation as Settle) : (outcomes.shift() as Outcome));
    }
    return all;
  }

  private perform(operation: ReserveOperation | Settle): Promise<Outcome> {
    if (operation.op !== "reserve") return this.settle(operation);
    const { call } = operation;
    const first = this.starting.get(call);
    if (first !== undefined) return first.then(() => this.perform(operation));
    const started = this.reserve(operation);
    const ended = started.then(
      () => {},
      () => {},
    );
    this.starting.set(call, ended);
    return started.finally(() => this.starting.delete(call));
  }

  private async reserve(operation: ReserveOperation): Promise<Outcome> {
    const asked = this.tied(operation.asked);
    const known = this.find(operation.call)?.call ?? this.settledCalls.get(operation.call);
    if (known !== undefined)
      return repeatedReserve(asCall(known, operation.budget), operation.budget, asked, operation);
    const line = this.lines.get(operation.budget) as Line;
    return (await this.serve(operation, asked)) ?? line.wait(operation, asked);
  }

  /** Admits a call from a slice, once the log has it. */
  private async serve(operation: ReserveOperation, asked: Amounts): Promise<OutcomeOf<ReserveOperation> | null> {
    const holder = this.holders.get(operation.budget) as Holder;
    const { call: id, kind, learned } = operation;
    const modest = learned === undefined ? asked : cutTo(asked, learned);
    const whole = holder.sliceFor(asked);
    // What a slice has no room for may fit into it all the same, by what calls like it have used so far.
    const slice = whole ?? (modest === asked ? null : holder.sliceFor(modest));
    if (slice === null) return null;
    const call: SlicedCall = {
      id,
      kind,
      asked: { ...(whole === null ? modest : asked) },
      charged: null,
      reported: {},
      estimate: {},
      unreported: [],
    };
    slice.take(call);
    if (this.log !== null && !(await this.proved(holder, slice, call))) return null;
    return { op: "reserve", decision: ADMITTED, granted: call.asked, notices: [], repeated: false, links: [] };
  }

  /** The log must have it before it is admitted; and while we waited for the disk the slice may have run out. */
  private async proved(holder: Holder, slice: Slice, call: SlicedCall): Promise<boolean> {
    const isNoted = await this.log?.write(["reserved", slice.call, call.id, call.kind, { ...call.asked }]).then(
      () => true,
      () => false,
    );
    // Or it was handed over to another one meanwhile, which stands behind it now.
    const behind = holder.find(call.id)?.slice ?? slice;
    if (isNoted === true && holder.isFresh(behind)) return true;
    if (isNoted !== true) behind.closed = true;
    behind.drop(call);
    return false;
  }

  private async settle(operation: Settle): Promise<Outcome> {
    const found = this.find(operation.call);
    if (found === null) return this.repeatedly(operation, this.settledCalls.get(operation.call) as SlicedCall);
    const { holder, slice, call } = found;
    if (operation.op === "release") {
      if (call.charged !== null) return this.repeatedly(operation, call);
      // A model may have answered a holder that died meanwhile.
      const paid = operation.dead === true && call.kind === "model";
      slice.settle(call, paid ? call.asked : {});
      if (!paid) call.asked = {};
      await this.settled(holder, slice, call, {});
      return { op: "release", repeated: false, notices: [], links: [] };
    }
    const reported = { ...this.counted(operation.used), ...call.reported };
    if (call.charged !== null && Object.keys(reported).length === Object.keys(call.reported).length) {
      return this.repeatedly(operation, call);
    }
    call.estimate = { ...call.estimate, ...this.counted(operation.estimate ?? {}) };
    // What was seen of a call that broke off bounds it from now on, as the reservation did before.
    if (operation.seen !== undefined) call.bound = { ...call.asked, ...this.tied(this.counted(operation.seen)) };
    const charge = chargeFor(call.kind, call.bound ?? call.asked, reported, call.estimate);
    const charged = this.counted(charge.charged);
    call.reported = reported;
    call.unreported = charge.unreported.filter((id) => this.dimensions.has(id));
    const before = call.charged ?? {};
    slice.settle(call, charged);
    await this.settled(holder, slice, call, before);
    const estimated = call.unreported.length > 0;
    return { op: "commit", charged, estimated, repeated: false, notices: [], links: [] };
  }

  /** `before` is what it was charged until now. */
  private async settled(holder: Holder, slice: Slice, call: SlicedCall, before: Amounts): Promise<void> {
    const note = ["settled", slice.call, call.id, { ...call.charged }, { ...before }] as const;
    const isNoted = await this.log?.write(note).then(
      () => true,
      () => false,
    );
    this.settledCalls.set(call.id, call);
    this.listeners.tell();
    // If we died now, a log without it would prove less than was used. Then the store has to know before anybody relies on it.
    if (isNoted === false) await holder.yieldAll();
    else if (holder.isOverdrawn(slice)) void holder.yieldAll().catch(() => {});
    else if (slice.closed && slice.underWay === 0) void holder.giveBack().catch(() => {});
  }

  /** What was settled before is not settled again; but where there is no proof of it, the store has to know by now. */
  private async repeatedly(operation: Settle, call: SlicedCall): Promise<Outcome> {
    if (this.log?.isBroken === true) for (const holder of this.holders.values()) await holder.giveBack();
    return repeatedly(operation, call);
  }

  private tied(amounts: Amounts): Amounts {
    return this.dimensions.has("llm_tokens") ? withTotal(amounts) : amounts;
  }

  private counted(amounts: Amounts): Amounts {
    return Object.fromEntries(Object.entries(amounts).filter(([id]) => this.dimensions.has(id)));
  }

  private find(call: string): Found | null {
    for (const holder of this.holders.values()) {
      const found = holder.find(call);
      if (found !== null) return { holder, ...found };
    }
    return null;
  }

  /** Something has changed in the store: it may be that others ask for what we hold. */
  private hear(): void {
    this.listeners.tell();
    this.newsDue ??= setTimeout(() => {
      this.newsDue = null;
      void this.answerRecalls();
    }, NEWS_MS).unref();
  }

  private async answerRecalls(): Promise<void> {
    for (const holder of this.holders.values()) {
      try {
        if (!(await holder.isRecalled())) continue;
        await holder.yieldAll();
        await holder.rejoin();
      } catch {
        // The store is away. The next tick asks again, and what we hold ends by itself.
      }
    }
  }

  private tick(): void {
    const work = async () => {
      await this.answerRecalls();
      for (const holder of this.holders.values()) await holder.rest().catch(() => {});
      if (this.folder !== null) await recoverLeases(this.folder, this.store, this.clock, this.name).catch(() => {});
    };
    if (this.closed) return;
    void work();
    this.ticking = this.timer.after(this.ttl_ms / 8, () => this.tick());
  }
}

interface Found {
  readonly holder: Holder;
  readonly slice: Slice;
  readonly call: SlicedCall;
}

/** Two that are called alike, or one that starts again, must not take each other's slices for their own. */
function holderName(called = `${hostname().replace(/[^A-Za-z0-9._-]/g, "-")}-${process.pid}`): string {
  if (!/^[A-Za-z0-9._-]{1,100}$/.test(called)) {
    throw new InputError("name", `is ${show(called)}; allowed: letters, digits, ".", "_" and "-", at most 100`);
  }
  return `${called}-${randomBytes(4).toString("hex")}`;
}

function closedError(): StoreError {
  return new StoreError("store_closed", "this leasing store is closed; open another one");
}

function repeatedly({ op }: Settle, call: SlicedCall): Outcome {
  if (op === "release") return repeatedSettlement("release");
  const estimated = call.unreported.length > 0;
  return { ...repeatedSettlement("commit"), charged: call.charged ?? {}, estimated };
}

function asCall({ id, kind, asked, charged, reported, estimate, unreported }: SlicedCall, budget: BudgetId) {
  const status = charged === null ? ("reserved" as const) : ("committed" as const);
  const step = { step_id: id, capability_id: "", expires: null, link: null };
  return { id, budget, kind, ...step, asked, status, charged: charged ?? {}, reported, estimate, unreported };
}
