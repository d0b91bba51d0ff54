import { InputError } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { backgroundTimer } from "../runtime/system-clock.js";
import { ToldStore, type Written } from "../runtime/told-store.js";
import { Activity, type Changed } from "./activity.js";
import { touchedBy } from "./touched.js";

export interface FeedOptions {
  readonly store: Store;
  /** How often it is looked for what other processes have changed, while somebody listens: every 500 ms unless it is said. */
  readonly look_ms?: number;
  readonly timer?: Timer;
  /** Is told of faults of the store and of listeners; the feed goes on after them. */
  readonly failed?: (error: unknown) => void;
}

const LOOK_MS = 500;
const KEYS = ["store", "look_ms", "timer", "failed"];
/** So many chains are remembered to be a run's, or to be none. */
const MOST_REMEMBERED = 10_000;

/**
 * Tells what changes in a store: at once what is written through its own `store`, and soon what other processes write. There
 * is one watcher for any number of listeners, and none when nobody listens.
 *
 * @example
 * ```ts
 * using feed = new Feed({ store });
 * const bursar = openBursar({ store: feed.store });
 * using listening = feed.changes(({ runs, approvals }) => console.log(runs, approvals));
 * ```
 */
export class Feed implements Disposable {
  /** The same store; what is written through this one is told at once. */
  readonly store: Store;
  private readonly below: Store;
  private readonly timer: Timer;
  private readonly look_ms: number;
  private readonly failed: (error: unknown) => void;
  private readonly listeners = new Set<(changed: Changed) => void>();
  private readonly isRun = new Map<string, boolean>();
  private activity: Activity | null = null;
  private due: Disposable | null = null;
  private looking: Promise<void> | null = null;
  private closed = false;

  constructor(options: FeedOptions) {
    checkKeys(options, "options", KEYS);
    const { store, look_ms = LOOK_MS, timer = backgroundTimer, failed = () => {} } = options;
    checkWait(look_ms, "look_ms");
    this.below = store;
    this.timer = timer;
    this.look_ms = look_ms;
    this.failed = failed;
    this.store = new ToldStore(store, (written) => this.hear(written));
  }

  /**
   * Calls the listener with the ids of what has changed, until the handle is disposed. What is changed by others before the
   * first look is over, for which `ready` waits, may go untold.
   */
  changes(listener: (changed: Changed) => void): Disposable {
    this.checkOpen();
    // A wrapper of its own, so that the same function can be registered twice and each be taken back.
    const registered = (changed: Changed) => listener(changed);
    this.listeners.add(registered);
    if (this.activity === null) {
      this.activity = new Activity(this.below);
      this.look();
    }
    return {
      [Symbol.dispose]: () => {
        this.listeners.delete(registered);
        this.rest();
      },
    };
  }

  /** Settled when the look that is under way is over: everything that changes from then on is told. */
  async ready(): Promise<void> {
    for (let looking = this.looking; looking !== null; looking = this.looking) await looking;
  }

  [Symbol.dispose](): void {
    this.closed = true;
    this.listeners.clear();
    this.rest();
  }

  private checkOpen(): void {
    if (this.closed) throw new InputError("feed", "is closed; open another");
  }

  /** Nobody listens: nothing is to be done until somebody does. */
  private rest(): void {
    if (this.listeners.size > 0) return;
    this.activity = null;
    this.due?.[Symbol.dispose]();
    this.due = null;
  }

  private schedule(): void {
    if (this.listeners.size === 0) return;
    this.due ??= this.timer.after(this.look_ms, () => {
      this.due = null;
      this.look();
    });
  }

  private look(): void {
    const { activity } = this;
    if (activity === null) return;
    this.looking ??= this.lookOnce(activity)
      .catch(this.failed)
      .finally(() => {
        this.looking = null;
        // All who listened have gone meanwhile, and somebody else has come: for him nobody has looked yet.
        if (this.activity !== null && this.activity !== activity) this.look();
        else this.schedule();
      });
  }

  private async lookOnce(activity: Activity): Promise<void> {
    const isFirst = activity.isNew;
    const changed = await activity.look();
    // The first look finds everything new.
    if (!isFirst && activity === this.activity) this.tell(changed);
  }

  /** Something was written through our store. */
  private hear(written: Written): void {
    if (this.activity === null) return;
    const touched = touchedBy(written);
    this.activity.note(touched);
    const of = (kind: string) => touched.documents.filter((each) => each.kind === kind).map(({ id }) => id);
    const runs = new Set([...of("run"), ...touched.driven]);
    for (const run of runs) this.remember(run, true);
    const doubtful: string[] = [];
    for (const chain of touched.chains.keys()) {
      const known = this.isRun.get(chain);
      if (known === true) runs.add(chain);
      else if (known === undefined) doubtful.push(chain);
    }
    this.tell({ runs: [...runs], approvals: of("approval") });
    if (doubtful.length > 0) void this.resolve(doubtful).catch(this.failed);
  }

  /** A chain is a run's own when there is a run of its name. */
  private async resolve(chains: readonly string[]): Promise<void> {
    const documents = await Promise.all(chains.map((chain) => this.below.document("run", chain)));
    for (const [index, chain] of chains.entries()) this.remember(chain, documents[index] !== null);
    this.tell({ runs: chains.filter((chain) => this.isRun.get(chain) === true), approvals: [] });
  }

  private remember(chain: string, isRun: boolean): void {
    this.isRun.set(chain, isRun);
    if (this.isRun.size > MOST_REMEMBERED) this.isRun.delete(this.isRun.keys().next().value as string);
  }

  private tell(changed: Changed): void {
    if (changed.runs.length + changed.approvals.length === 0) return;
    for (const listener of [...this.listeners]) {
      try {
        listener(changed);
      } catch (error) {
        this.failed(error);
      }
    }
  }
}

export type { Changed };
