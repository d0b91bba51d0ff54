import type { Amounts } from "../../core/amount.js";
import type { BudgetId } from "../../core/budget.js";
import type { Dimensions } from "../../core/dimensions.js";
import type { Document } from "../../core/document.js";
import { StaleError } from "../../core/document.js";
import type { CommitOperation, PutOperation, ReserveOperation } from "../../core/operation.js";
import { RefusedError } from "../../core/refused.js";
import type { Time } from "../../core/time.js";
import type { Clock } from "../../ports/clock.js";
import type { Store } from "../../ports/store.js";
import type { LeaseLog } from "./log.js";
import { added, sliceOf, times } from "./share.js";
import { Slice, type SlicedCall } from "./slice.js";

export interface HolderOptions {
  readonly store: Store;
  readonly budget: BudgetId;
  /** Names this process among those that lease. */
  readonly name: string;
  readonly clock: Clock;
  readonly ttl_ms: number;
  readonly log: LeaseLog | null;
}

/** What a first slice holds, in calls like the first one. */
const FIRST = 16;
/** A slice that lasted for less than this part of its time was too small, one of which less than that was used too large. */
const SHORT = 1 / 16;
const UNUSED = 1 / 4;
/** No slice is larger than so many times the first one. */
const LARGEST = 4096;

/**
 * One process's part in one shared budget: the slices it holds, and its entry among the holders. The entry is its fence:
 * a holder that was asleep for too long finds it changed, and has to begin anew before it gets anything.
 */
export class Holder {
  readonly budget: BudgetId;
  private readonly store: Store;
  private readonly name: string;
  private readonly clock: Clock;
  private readonly ttl_ms: number;
  private readonly log: LeaseLog | null;
  private readonly dimensions: Dimensions;
  private entry: Document | null = null;
  private slices: readonly Slice[] = [];
  private want: Amounts = {};
  private first: Amounts = {};
  private readonly taken = new WeakMap<Slice, number>();
  private since = 0;
  private epoch = 0;
  private count = 0;

  constructor({ store, budget, name, clock, ttl_ms, log }: HolderOptions) {
    this.store = store;
    this.budget = budget;
    this.name = name;
    this.clock = clock;
    this.ttl_ms = ttl_ms;
    this.log = log;
    this.dimensions = store.dimensions;
  }

  /** The slice a call can be served from right now, if there is one. */
  sliceFor(asked: Amounts): Slice | null {
    const { instant } = this.clock.now();
    for (const slice of this.slices)
      if (!slice.closed && this.isFresh(slice, instant) && slice.fits(asked)) return slice;
    return null;
  }

  /** Whether calls may still be admitted from a slice: it ends for us well before it does for everybody else. */
  isFresh({ expires }: Slice, instant: number = this.clock.now().instant): boolean {
    return instant < expires - this.ttl_ms / 4;
  }

  find(call: string): { readonly slice: Slice; readonly call: SlicedCall } | null {
    for (const slice of this.slices) {
      const found = slice.calls.get(call);
      if (found !== undefined) return { slice, call: found };
    }
    return null;
  }

  /**
   * Leases a slice that holds at least what is needed. Gives back null, or the decision that stands against it.
   */
  async refill(need: Amounts, holders: number): Promise<RefusedError | null> {
    for (const slice of this.slices) slice.closed = true;
    this.adapt(need);
    const time = this.clock.now();
    const path = await this.store.path(this.budget);
    const asked = sliceOf(path, need, this.want, holders, time, this.dimensions);
    try {
      await this.lease(asked, time);
      return null;
    } catch (error) {
      if (error instanceof RefusedError) return error;
      throw error;
    } finally {
      await this.giveBack();
    }
  }

  /** Gives back what nobody uses. What calls under way hold is kept for them, and nothing else. */
  async yieldAll(): Promise<void> {
    for (const slice of this.slices) {
      slice.closed = true;
      if (slice.underWay > 0) await this.shrink(slice);
    }
    await this.giveBack();
  }

  /** Gives back slices from which nothing was taken for a while, so that they do no good here and harm elsewhere. */
  async rest(): Promise<void> {
    for (const slice of this.slices) {
      const idle = slice.underWay === 0 && this.taken.get(slice) === slice.calls.size;
      if (idle) slice.closed = true;
      this.taken.set(slice, slice.calls.size);
    }
    await this.giveBack();
  }

  /** Settles slices that take no more calls and have none under way; and closes those whose time is over. */
  async giveBack(): Promise<void> {
    const { instant } = this.clock.now();
    for (const slice of this.slices) if (!this.isFresh(slice, instant)) slice.closed = true;
    const done = this.slices.filter(({ closed, underWay }) => closed && underWay === 0);
    if (done.length === 0) return;
    // Nothing is admitted from these any more, so what is reported here is final, even if it comes late.
    await this.store.apply(done.map((slice) => settlement(slice)));
    this.slices = this.slices.filter((slice) => !done.includes(slice));
    for (const { call } of done) await this.log?.write(["returned", call]).catch(() => {});
  }

  /** Looks at our entry: whether others ask for what we hold, or have given us up. */
  async isRecalled(): Promise<boolean> {
    if (this.entry === null || this.slices.length === 0) return false;
    const entry = await this.store.document("lease", this.entryId);
    return entry !== null && entry.version !== this.entry.version;
  }

  /** Says that we are there, after a recall or a long sleep. */
  async rejoin(): Promise<void> {
    const known = await this.store.document("lease", this.entryId);
    if (known?.status === "expired") this.epoch++;
    this.entry = known;
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

  /** Gives everything back. Calls still under way are charged as reserved: nobody will settle them. */
  async leave(): Promise<void> {
    for (const slice of this.slices) {
      slice.closed = true;
      for (const call of slice.calls.values()) if (call.charged === null) slice.settle(call, call.asked);
    }
    await this.giveBack();
    if (this.entry !== null) {
      await this.store.apply([this.entered("left")]).catch((error: unknown) => ignore(error, StaleError));
    }
  }

  /** Whether anything is held at all. */
  get holds(): boolean {
    return this.slices.length > 0;
  }

  private get entryId(): string {
    return `${this.budget}/${this.name}`;
  }

  private async lease(asked: Amounts, { instant }: Time): Promise<void> {
    for (let tries = 0; ; tries++) {
      const call = `lease/${this.budget}/${this.name}/${this.epoch}/${this.count++}`;
      const expires = instant + this.ttl_ms;
      const reserve = this.reservation(call, asked, expires);
      try {
        const [{ document }] = await this.store.apply([this.entered("held", expires), reserve]);
        this.entry = document;
        await this.log?.write(["granted", call, this.budget, expires, { ...asked }]);
        this.slices = [...this.slices, new Slice(call, asked, expires, this.dimensions)];
        this.since = instant;
        return;
      } catch (error) {
        // Our entry was changed: we were recalled, or given up. Then nothing of the list was done.
        if (!(error instanceof StaleError) || tries > 3) throw error;
        await this.rejoin();
      }
    }
  }

  /** Replaces a slice by one that holds only what its calls under way need, in one transaction. */
  private async shrink(slice: Slice): Promise<void> {
    const { instant } = this.clock.now();
    const call = `lease/${this.budget}/${this.name}/${this.epoch}/${this.count++}`;
    const held = slice.holding();
    const expires = instant + this.ttl_ms;
    try {
      await this.store.apply([settlement(slice), this.reservation(call, held, expires)]);
    } catch (error) {
      // The budget is exhausted meanwhile: then the old slice stays behind its calls.
      return ignore(error, RefusedError);
    }
    const rest = new Slice(call, held, expires, this.dimensions);
    rest.closed = true;
    await this.log?.write(["granted", call, this.budget, expires, { ...held }]).catch(() => {});
    await this.log?.write(["moved", slice.call, call]).catch(() => {});
    slice.handOver(rest);
    this.slices = [...this.slices.filter((each) => each !== slice), rest];
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

  /** Larger slices while they do not last, smaller ones when they are not used. */
  private adapt(need: Amounts): void {
    const largest = this.slices.at(-1);
    if (largest === undefined) {
      this.first = Object.keys(this.first).length === 0 ? need : this.first;
      this.want = added(times(this.first, FIRST), missing(need, this.first));
      return;
    }
    const { instant } = this.clock.now();
    const lasted = instant - this.since;
    if (lasted < this.ttl_ms * SHORT) this.want = most(times(this.want, 2), times(this.first, LARGEST));
    else if (usedPart(largest) < UNUSED) this.want = times(this.want, 1 / 2);
    this.want = added(this.want, missing(need, this.want));
  }
}

function settlement(slice: Slice): CommitOperation {
  return { op: "commit", call: slice.call, used: slice.usage() };
}

/** The largest part of any dimension of a slice that was used. */
function usedPart(slice: Slice): number {
  const used = slice.usage();
  const parts = Object.entries(slice.granted).map(([id, granted]) => (granted === 0 ? 0 : (used[id] ?? 0) / granted));
  return Math.max(0, ...parts);
}

function missing(need: Amounts, known: Amounts): Amounts {
  return Object.fromEntries(Object.entries(need).filter(([id]) => known[id] === undefined));
}

function most(a: Amounts, cap: Amounts): Amounts {
  return Object.fromEntries(
    Object.entries(a).map(([id, amount]) => [id, Math.min(amount, cap[id] ?? amount) as typeof amount]),
  );
}

function ignore(error: unknown, type: new (...args: never[]) => Error): void {
  if (!(error instanceof type)) throw error;
}
