import type { Amounts } from "../../core/amount.js";
import type { BudgetId } from "../../core/budget.js";
import type { Decision } from "../../core/decision.js";
import type { Dimensions } from "../../core/dimensions.js";
import { type Document, StaleError } from "../../core/document.js";
import type { CommitOperation, PutOperation, ReserveOperation } from "../../core/operation.js";
import { RefusedError } from "../../core/refused.js";
import type { Clock } from "../../ports/clock.js";
import type { Store } from "../../ports/store.js";
import type { LeaseLog } from "./log.js";
import { Pending } from "./pending.js";
import { sliceOf, zeros } from "./share.js";
import { Slice, type SlicedCall } from "./slice.js";
import { Wants } from "./wants.js";

export interface HolderOptions {
  readonly store: Store;
  readonly budget: BudgetId;
  /** Names this process among those that lease. */
  readonly name: string;
  readonly clock: Clock;
  readonly ttl_ms: number;
  readonly log: LeaseLog | null;
}

/** How an attempt to lease a slice ended; `unavailable` when there is no leasing here any more. */
export type Refill =
  | { readonly kind: "leased" | "unavailable" }
  | { readonly kind: "refused"; readonly decision: Decision };

/**
 * One process's part in one shared budget: the slices it holds, and its entry among the holders. The entry is its fence:
 * a holder that was asleep for too long finds it changed, and has to begin anew before it gets anything.
 *
 * Everything that talks to the store about slices happens one after the other. Calls settle meanwhile; so what the store is
 * told of a slice is final when it is sent, and calls still under way are moved to another slice before.
 */
export class Holder {
  readonly budget: BudgetId;
  private readonly store: Store;
  private readonly name: string;
  private readonly clock: Clock;
  private readonly ttl_ms: number;
  private readonly log: LeaseLog | null;
  private readonly dimensions: Dimensions;
  private readonly pending: Pending;
  private readonly wants = new Wants();
  private readonly taken = new WeakMap<Slice, number>();
  /** A yield that has not begun yet: whoever asks meanwhile is served by it too. */
  private yielding: Promise<void> | null = null;
  private work: Promise<unknown> = Promise.resolve();
  private entry: Document | null = null;
  private slices: readonly Slice[] = [];
  private limited: ReadonlySet<string> = new Set();
  private since = 0;
  private epoch = 0;
  private count = 0;
  private left = false;

  constructor({ store, budget, name, clock, ttl_ms, log }: HolderOptions) {
    this.store = store;
    this.budget = budget;
    this.name = name;
    this.clock = clock;
    this.ttl_ms = ttl_ms;
    this.log = log;
    this.dimensions = store.dimensions;
    this.pending = new Pending(store);
  }

  /** The slice a call can be served from right now, if there is one. */
  sliceFor(asked: Amounts): Slice | null {
    const { instant } = this.clock.now();
    for (const slice of this.slices) {
      if (!slice.closed && this.isFresh(slice, instant) && slice.fits(asked)) return slice;
    }
    return null;
  }

  /** Whether calls may still be admitted from a slice: it ends for us well before it does for everybody else. */
  isFresh({ expires }: Slice, instant: number = this.clock.now().instant): boolean {
    return instant < expires - this.ttl_ms / 4;
  }

  /** Whether more was used of something limited than a slice has. */
  isOverdrawn(slice: Slice): boolean {
    return slice.overdrawn.some((id) => this.limited.has(id));
  }

  find(call: string): { readonly slice: Slice; readonly call: SlicedCall } | null {
    for (const slice of this.slices) {
      const found = slice.calls.get(call);
      if (found !== undefined) return { slice, call: found };
    }
    return null;
  }

  /** Leases a slice that holds at least what is needed. */
  refill(need: Amounts, holders: number): Promise<Refill> {
    return this.alone(async () => {
      if (this.left || this.log?.isBroken === true) return { kind: "unavailable" };
      for (const slice of this.slices) slice.closed = true;
      const { instant, monotonic } = this.clock.now();
      this.wants.adapt(need, this.slices.at(-1), (instant - this.since) / this.ttl_ms);
      const path = await this.store.path(this.budget);
      this.limited = new Set(path.flatMap(({ limits }) => Object.keys(limits)));
      const asked = sliceOf(path, need, this.wants.amounts, holders, { instant, monotonic }, this.dimensions);
      const refill = await this.lease(asked);
      await this.settleClosed();
      return refill;
    });
  }

  /** Gives back what nobody uses. What calls under way hold is kept for them, and nothing else. */
  yieldAll(): Promise<void> {
    for (const slice of this.slices) slice.closed = true;
    this.yielding ??= this.alone(async () => {
      this.yielding = null;
      for (const slice of this.slices) if (slice.closed && slice.underWay > 0) await this.shrink(slice);
      await this.settleClosed();
    });
    return this.yielding;
  }

  /** Settles slices that take no more calls and have none under way, after all that the store has not heard yet. */
  giveBack(): Promise<void> {
    return this.alone(async () => {
      await this.pending.flush();
      await this.settleClosed();
    });
  }

  /** Gives back slices from which nothing was taken for a while, and renews those behind calls that take long. */
  rest(): Promise<void> {
    return this.alone(async () => {
      await this.pending.flush();
      const { instant } = this.clock.now();
      for (const slice of this.slices) {
        if (slice.underWay === 0 && this.taken.get(slice) === slice.calls.size) slice.closed = true;
        this.taken.set(slice, slice.calls.size);
        if (!this.isFresh(slice, instant) && slice.underWay > 0) await this.shrink(slice);
      }
      await this.settleClosed();
    });
  }

  /** Looks at our entry: whether others ask for what we hold, or have given us up. */
  async isRecalled(): Promise<boolean> {
    if (this.entry === null || this.slices.length === 0) return false;
    const entry = await this.store.document("lease", this.entryId);
    return entry !== null && entry.version !== this.entry?.version;
  }

  /** Says that we are there, after a recall or a long sleep. */
  rejoin(): Promise<void> {
    return this.alone(() => this.readEntry());
  }

  /** The entries of the other processes that hold slices of this budget, or did so when they were last heard of. */
  async others(): Promise<readonly Document[]> {
    const others: Document[] = [];
    for (const status of ["held", "recalled"]) {
      for await (const entry of this.store.documents("lease", status)) {
        if (entry.budget === this.budget && entry.id !== this.entryId) others.push(entry);
      }
    }
    return others;
  }

  /** Asks others for what they do not use, and gives those up who have not been heard of for too long. */
  async recall(others: readonly Document[]): Promise<void> {
    const { instant } = this.clock.now();
    const isGone = ({ body }: Document) => Number(body.expires) <= instant;
    if (others.some(isGone)) await this.store.apply([{ op: "expire" }]);
    for (const entry of others) {
      const gone = isGone(entry);
      if (!gone && entry.status === "recalled") continue;
      await this.store
        .apply([{ op: "put", ...entry, status: gone ? "expired" : "recalled" }])
        // Somebody was faster: the holder itself, or another one who starves.
        .catch((error: unknown) => ignore(error, StaleError));
    }
  }

  /** Gives everything back, for good. Calls still under way are charged as reserved: nobody will settle them. */
  leave(): Promise<void> {
    this.left = true;
    return this.alone(async () => {
      for (const slice of this.slices) {
        slice.closed = true;
        for (const call of slice.calls.values()) if (call.charged === null) slice.settle(call, call.asked);
      }
      await this.settleClosed();
      await this.pending.flush();
      if (this.entry === null) return;
      await this.store.apply([this.entered("left")]).catch((error: unknown) => ignore(error, StaleError));
    });
  }

  private get entryId(): string {
    return `${this.budget}/${this.name}`;
  }

  private alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.work.then(work);
    this.work = result.catch(() => {});
    return result;
  }

  private async readEntry(): Promise<void> {
    const known = await this.store.document("lease", this.entryId);
    if (known?.status === "expired") this.epoch++;
    this.entry = known;
  }

  private async lease(asked: Amounts): Promise<Refill> {
    for (let tries = 0; ; tries++) {
      const call = this.newCall();
      const { instant } = this.clock.now();
      const expires = instant + this.ttl_ms;
      try {
        const [{ document }] = await this.store.apply([
          this.entered("held", expires),
          this.reservation(call, asked, expires),
        ]);
        this.entry = document;
        await this.log?.write(["granted", call, this.budget, expires, { ...asked }]);
        this.slices = [...this.slices, new Slice(call, asked, expires, this.dimensions)];
        this.since = instant;
        return { kind: "leased" };
      } catch (error) {
        if (error instanceof RefusedError) return { kind: "refused", decision: error.decision };
        // Our entry was changed: we were recalled, or given up. Then nothing of the list was done.
        if (error instanceof StaleError && tries < 4) await this.readEntry();
        else {
          // Whether it was granted or not: nothing was taken from it, and nothing will be.
          await this.pending.tell([{ op: "commit", call, used: zeros(asked) }]).catch(() => {});
          throw error;
        }
      }
    }
  }

  /**
   * Replaces a slice by one that holds only what its calls under way need, in one transaction. They are moved there before
   * the store is told, so that whatever settles meanwhile is counted there.
   */
  private async shrink(slice: Slice): Promise<void> {
    const { instant } = this.clock.now();
    const held = slice.holding();
    const rest = new Slice(this.newCall(), held, instant + this.ttl_ms, this.dimensions);
    rest.closed = true;
    slice.closed = true;
    slice.handOver(rest);
    this.slices = [...this.slices.filter((each) => each !== slice), rest];
    const report = settlement(slice);
    const granted = ["granted", rest.call, this.budget, rest.expires, { ...held }] as const;
    // The log first, and both at once: a call that is settled before the log knows that it was moved would be proved twice.
    await Promise.allSettled([this.log?.write(granted), this.log?.write(["moved", slice.call, rest.call])]);
    await this.pending.tell(
      [report, this.reservation(rest.call, held, rest.expires)],
      () => {},
      () => {
        // The budget is exhausted meanwhile: then the old slice stays behind its calls, and behind what they used since.
        rest.handBack(slice);
        this.slices = [...this.slices.filter((each) => each !== rest), slice];
        void this.log?.write(["moved", rest.call, slice.call]).catch(() => {});
      },
    );
  }

  private async settleClosed(): Promise<void> {
    const { instant } = this.clock.now();
    for (const slice of this.slices) if (!this.isFresh(slice, instant)) slice.closed = true;
    const done = this.slices.filter(({ closed, underWay }) => closed && underWay === 0);
    if (done.length === 0) return;
    // Nothing is admitted from these any more, so what is reported here is final, even if it comes late.
    this.slices = this.slices.filter((slice) => !done.includes(slice));
    await this.pending.tell(
      done.map((slice) => settlement(slice)),
      () => {
        for (const { call } of done) void this.log?.write(["returned", call]).catch(() => {});
      },
    );
  }

  private newCall(): string {
    return `lease/${this.budget}/${this.name}/${this.epoch}/${this.count++}`;
  }

  private reservation(call: string, asked: Amounts, expires: number): ReserveOperation & { readonly must: true } {
    const capability_id = `lease:${this.name}`;
    return { op: "reserve", budget: this.budget, call, kind: "lease", asked, expires, capability_id, must: true };
  }

  private entered(status: string, expires: number = this.clock.now().instant): PutOperation {
    const version = this.entry?.version ?? 0;
    const body = { holder: this.name, epoch: this.epoch, expires };
    return { op: "put", kind: "lease", id: this.entryId, budget: this.budget, status, body, version };
  }
}

function settlement(slice: Slice): CommitOperation {
  return { op: "commit", call: slice.call, used: slice.usage() };
}

function ignore(error: unknown, type: new (...args: never[]) => Error): void {
  if (!(error instanceof type)) throw error;
}
