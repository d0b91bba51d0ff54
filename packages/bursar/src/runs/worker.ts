import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";
import type { Timer } from "../ports/timer.js";
import { systemTimer } from "../runtime/system-clock.js";
import type { Bursar } from "./bursar.js";
import { ClaimLostError } from "./error.js";
import { type RunRecord, readRun } from "./record.js";

export interface WorkerOptions {
  readonly bursar: Bursar;
  /** How many runs are driven at the same time, besides what those start themselves: 4. */
  readonly most?: number;
  /** How often it is looked for runs that wait, or whose worker is gone: 1,000. */
  readonly every_ms?: number;
  readonly timer?: Timer;
  /** Told when a round, or a run, has failed for a reason that is not its program's. */
  readonly failed?: (error: unknown, run: string | null) => void;
}

const KEYS = ["bursar", "most", "every_ms", "timer", "failed"];

/**
 * Takes runs that wait, and those whose worker is gone, and drives them; and looks for the answers that others stand still for. Any number of workers may do so on one store: each run
 * has one at a time.
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
  private looking: Promise<void> = Promise.resolve();
  private next: Disposable | null = null;
  private started = false;
  private stopped = false;

  constructor(options: WorkerOptions) {
    checkKeys(options, "options", KEYS);
    const { bursar, most = 4, every_ms = 1000, timer = systemTimer, failed = () => {} } = options;
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
    this.looking = this.round();
  }

  /** The runs that are being driven here. */
  get runs(): readonly string[] {
    return [...this.driving.keys()];
  }

  /** Takes what there is to take. Tells how many runs that were. */
  async look(): Promise<number> {
    let taken = 0;
    for (const status of ["queued", "running"]) {
      for await (const document of this.bursar.store.documents("run", status)) {
        if (this.driving.size >= this.most || this.stopped) return taken;
        if (this.driving.has(document.id)) continue;
        if (await this.take(readRun(document))) taken++;
      }
    }
    return taken;
  }

  /** Lets go of everything at once; runs under way are resumable. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Takes no more runs and lets go of those it has; calls that are being made have so long to come to their end. */
  async close({ within_ms = 0 }: { readonly within_ms?: number } = {}): Promise<void> {
    this.stopped = true;
    this.next?.[Symbol.dispose]();
    this.closing.abort();
    await this.bursar.close({ within_ms });
    await Promise.all([this.looking, this.collecting]);
    await Promise.allSettled(this.driving.values());
  }

  private async take(run: RunRecord): Promise<boolean> {
    try {
      if (!(await this.bursar.claim(run))) return false;
    } catch (error) {
      if (!isLetGo(error)) this.failed(error, run.id);
      return false;
    }
    const work = this.bursar
      .drive(run.id)
      .then(
        () => {},
        // Whoever closes lets go of what he drives: that is what he was told to do.
        (error) => (isLetGo(error) ? undefined : this.failed(error, run.id)),
      )
      .finally(() => this.driving.delete(run.id));
    this.driving.set(run.id, work);
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

  private async round(): Promise<void> {
    this.collect();
    try {
      await this.look();
    } catch (error) {
      this.failed(error, null);
    }
    if (this.stopped) return;
    this.next = this.timer.after(this.every_ms, () => {
      this.looking = this.round();
    });
  }
}

function isLetGo(error: unknown): boolean {
  return error instanceof ClaimLostError && error.how === "closed";
}
