import type { Document } from "../core/document.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";
import type { Timer } from "../ports/timer.js";
import { systemTimer } from "../runtime/system-clock.js";
import type { Bursar } from "./bursar.js";
import { claimOf } from "./claim.js";
import { ClaimLostError } from "./error.js";
import { readRun } from "./record.js";

/** How many runs a worker drives at the same time where nothing else is said. Most of them wait for a model at any moment. */
export const WORKER_SLOTS = 16;

export interface WorkerOptions {
  readonly bursar: Bursar;
  /** How many runs are driven at the same time, besides what those start themselves: 16. */
  readonly most?: number;
  /**
   * How often it looks for runs whose worker is gone, and for those it was not told of: 1,000. Runs that are queued are told of at
   * once, and a slot that becomes free is filled at once.
   */
  readonly every_ms?: number;
  readonly timer?: Timer;
  /** Told when a round, or a run, has failed for a reason that is not its program's. */
  readonly failed?: (error: unknown, run: string | null) => void;
}

const KEYS = ["bursar", "most", "every_ms", "timer", "failed"];

/**
 * So many runs that cannot be taken here are passed over each time it is looked; beyond that, once a round. And so many of them are tried
 * again in a round: each takes a look at its claim, and thousands would keep a worker busy that has nothing to do.
 */
const MOST_PASSED = 100;

/**
 * Takes runs that wait, the oldest first, and those whose worker is gone, and drives them; and looks for the answers that others
 * stand still for. Any number of workers may do so on one store: each run has one at a time.
 *
 * @example
 * ```ts
 * await using worker = new Worker({ bursar });
 * worker.start();
 * ```
 */
export class Worker implements AsyncDisposable {
  private readonly bursar: Bursar;
  private readonly most: number;
  private readonly every_ms: number;
  private readonly timer: Timer;
  private readonly failed: (error: unknown, run: string | null) => void;
  private readonly driving = new Map<string, Promise<void>>();
  private readonly closing = new AbortController();
  /** What is done for model calls that can wait: a provider may be slow, and no run has to wait for that. */
  private collecting: Promise<void> | null = null;
  /** One look after the other: two at once would take the same runs. */
  private looking: Promise<unknown> = Promise.resolve();
  private next: Disposable | null = null;
  private watching: Disposable | null = null;
  private started = false;
  private stopped = false;
  /** Whether free slots are filled as soon as there is something to fill them with. */
  private isFilling = false;
  /** A look that is to come, and has not begun. */
  private isDue = false;
  /** Whether there may be queued runs that were not looked at. */
  private mayBeMore = true;
  /** Whether it is to be looked for runs whose worker is gone. */
  private mayBeAbandoned = true;
  /** The versions of queued runs that could not be taken here, those that were tried last at the end. */
  private readonly passed = new Map<string, number>();
  /** The last queued run that was looked at, when too many were passed to look at all of them again. */
  private place: string | undefined;
  /** Until when the workers of other runs are known to be alive. */
  private readonly alive = new Map<string, number>();

  constructor(options: WorkerOptions) {
    checkKeys(options, "options", KEYS);
    const { bursar, most = WORKER_SLOTS, every_ms = 1000, timer = systemTimer, failed = () => {} } = options;
    if (!Number.isSafeInteger(most) || most < 1) throw new InputError("most", `is ${show(most)}; allowed: 1 or more`);
    checkWait(every_ms, "every_ms");
    this.bursar = bursar;
    this.most = most;
    this.every_ms = every_ms;
    this.timer = timer;
    this.failed = failed;
  }

  /** Looks now, and from then on until it is disposed. */
  start(): void {
    if (this.started || this.stopped) return;
    this.started = true;
    this.fillFromNowOn();
    this.round();
  }

  /** The runs that are being driven here. */
  get runs(): readonly string[] {
    return [...this.driving.keys()];
  }

  /** Takes what there is to take. Tells how many runs that were. */
  look(): Promise<number> {
    this.forgetPassed(this.passed.size);
    return this.lookNext();
  }

  /** Drives what there is to take, and resolves when nothing is left that this worker can take. */
  async drain(): Promise<void> {
    this.fillFromNowOn();
    for (;;) {
      const taken = await this.look();
      if (this.stopped || (taken === 0 && this.driving.size === 0)) return;
      // Slots that become free are filled meanwhile.
      while (this.driving.size > 0) {
        await Promise.race(this.driving.values());
        await this.looking;
      }
    }
  }

  /** Lets go of everything at once; runs under way are resumable. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Takes no more runs and lets go of those it has; calls that are being made have so long to come to their end. */
  async close({ within_ms = 0 }: { readonly within_ms?: number } = {}): Promise<void> {
    this.stopped = true;
    this.next?.[Symbol.dispose]();
    this.watching?.[Symbol.dispose]();
    this.closing.abort();
    await this.bursar.close({ within_ms });
    await Promise.all([this.looking, this.collecting]);
    await Promise.allSettled(this.driving.values());
  }

  private fillFromNowOn(): void {
    this.isFilling = true;
    this.watching ??= this.bursar.store.watch(() => {
      this.mayBeMore = true;
      this.fill();
    }, "runs");
  }

  /** Looks soon, if there is a slot to fill and something may be there for it. */
  private fill(): void {
    if (!this.isFilling || this.isDue || this.stopped || this.free === 0) return;
    if (!this.mayBeMore && !this.mayBeAbandoned) return;
    this.isDue = true;
    this.lookNext().catch((error: unknown) => this.failed(error, null));
  }

  private get free(): number {
    return this.most - this.driving.size;
  }

  private lookNext(): Promise<number> {
    const look = this.looking.then(() => {
      this.isDue = false;
      return this.takeAll();
    });
    this.looking = look.catch(() => {});
    return look;
  }

  private async takeAll(): Promise<number> {
    if (this.stopped) return 0;
    const abandoned = this.mayBeAbandoned ? await this.takeAbandoned() : 0;
    return abandoned + (await this.takeQueued());
  }

  /** Runs whose worker is gone. They come first: they have begun. */
  private async takeAbandoned(): Promise<number> {
    const { store } = this.bursar;
    this.mayBeAbandoned = false;
    let taken = 0;
    const alive = new Map(this.alive);
    this.alive.clear();
    for await (const { id } of store.oldest("run", { status: "running", limit: Number.MAX_SAFE_INTEGER, only: [] })) {
      if (this.free === 0 || this.stopped) {
        this.mayBeAbandoned = true;
        return taken;
      }
      if (this.driving.has(id)) continue;
      const now = store.clock.now().instant;
      const known = alive.get(id) ?? 0;
      const { worker, expires } = known > now ? { worker: "", expires: known } : await claimOf(store, id);
      if (worker !== null && expires > now) this.alive.set(id, expires);
      else if (await this.take(id)) taken++;
    }
    return taken;
  }

  /** No more of them are read than there are slots to fill, beside those that were passed over. */
  private async takeQueued(): Promise<number> {
    const { store } = this.bursar;
    let taken = 0;
    this.mayBeMore = false;
    let after = this.passed.size > MOST_PASSED ? this.place : undefined;
    while (this.free > 0 && !this.stopped) {
      const known = after === undefined ? this.passed.size : 0;
      const limit = this.free + known;
      // What is only passed over need not be read.
      const only = known > 0 ? [] : undefined;
      const wanted: Document[] = [];
      let read = 0;
      for await (const document of store.oldest("run", { status: "queued", after, limit, only })) {
        read++;
        after = document.id;
        if (!this.driving.has(after) && this.passed.get(after) !== document.version) wanted.push(document);
      }
      this.place = after;
      while (wanted.length > 0 && this.free > 0 && !this.stopped) {
        const took = await Promise.all(wanted.splice(0, this.free).map((run) => this.takeOrPass(run, known === 0)));
        taken += took.filter(Boolean).length;
      }
      if (read < limit && wanted.length === 0) return taken;
    }
    this.mayBeMore = true;
    return taken;
  }

  private async takeOrPass(document: Document, isWhole: boolean): Promise<boolean> {
    const { id, version } = document;
    const took = await this.take(id, isWhole ? document : null);
    if (!took) {
      this.passed.delete(id);
      this.passed.set(id, version);
    }
    return took;
  }

  /** So many of the runs that were passed over are tried again, those first that were not for longest. */
  private forgetPassed(most: number): void {
    const forgotten = [...this.passed.keys()].slice(0, most);
    for (const id of forgotten) this.passed.delete(id);
    this.place = undefined;
    this.mayBeMore = true;
    this.mayBeAbandoned = true;
  }

  private async take(id: string, read: Document | null = null): Promise<boolean> {
    try {
      const document = read ?? (await this.bursar.store.document("run", id));
      if (document === null || !(await this.bursar.claim(readRun(document)))) return false;
    } catch (error) {
      if (!isLetGo(error)) this.failed(error, id);
      return false;
    }
    const work = this.bursar
      .drive(id)
      .then(
        () => {},
        // Whoever closes lets go of what he drives: that is what he was told to do.
        (error) => (isLetGo(error) ? undefined : this.failed(error, id)),
      )
      .finally(() => {
        this.driving.delete(id);
        this.fill();
      });
    this.driving.set(id, work);
    return true;
  }

  private collect(): void {
    this.collecting ??= this.bursar
      .collect(this.closing.signal)
      .catch((error: unknown) => this.stopped || this.failed(error, null))
      .then(() => {
        this.collecting = null;
      });
  }

  private round(): void {
    this.collect();
    this.forgetPassed(MOST_PASSED);
    this.fill();
    if (this.stopped) return;
    this.next = this.timer.after(this.every_ms, () => this.round());
  }
}

function isLetGo(error: unknown): boolean {
  return error instanceof ClaimLostError && error.how === "closed";
}
