import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { type HoldWatch, holdWatchFor } from "./dead-holds.js";
import { backgroundTimer } from "./system-clock.js";

export interface SweeperOptions {
  readonly store: Store;
  /** How long to rest between two rounds. */
  readonly every_ms?: number;
  readonly timer?: Timer;
  /** Told when a round has failed, as when the store is away; the next one comes all the same. */
  readonly failed?: (error: unknown) => void;
}

/** What a round has found to do. */
export interface Swept {
  /** Reservations of dead holders that were settled. */
  readonly expired: number;
  /** Chains whose heads were recorded in the tenant's chain. */
  readonly anchored: number;
}

const EVERY_MS = 5000;
/** How often the processes are looked at that hold something. */
const HOLDS_LOOK_MS = 5000;
/** So many transactions one round has at most; what is left is for the next. */
const MOST = 100;

/**
 * Settles the reservations of holders that have died, and anchors the heads of chains that have grown, again and again. It does not
 * keep a process alive that has nothing else to do. Any number of processes may do so at the same time: each reservation is settled once, whoever comes first.
 *
 * @example
 * ```ts
 * using sweeper = new Sweeper({ store });
 * sweeper.start();
 * ```
 */
export class Sweeper implements Disposable {
  private readonly store: Store;
  private readonly every_ms: number;
  private readonly timer: Timer;
  private readonly failed: (error: unknown) => void;
  private next: Disposable | null = null;
  private stopped = false;
  private readonly holds: HoldWatch | null;

  constructor(options: SweeperOptions) {
    checkKeys(options, "options", ["store", "every_ms", "timer", "failed"]);
    const { store, every_ms = EVERY_MS, timer = backgroundTimer, failed = () => {} } = options;
    if (typeof store?.apply !== "function") throw new InputError("store", `is ${show(store)}; allowed: a store`);
    checkWait(every_ms, "every_ms");
    this.store = store;
    this.holds = holdWatchFor(store);
    this.every_ms = every_ms;
    this.timer = timer;
    this.failed = failed;
  }

  /** Sweeps now, and from then on until it is disposed. */
  start(): void {
    if (this.next !== null || this.stopped) return;
    this.next = this.timer.after(0, () => void this.round());
  }

  /** One round. */
  async sweep(): Promise<Swept> {
    let expired = 0;
    let anchored = 0;
    expired += (await this.holds?.settleDeadEvery(HOLDS_LOOK_MS))?.length ?? 0;
    for (let turn = 0; turn < MOST; turn++) {
      const [{ calls }] = await this.store.apply([{ op: "expire" }]);
      expired += calls.length;
      if (calls.length === 0) break;
    }
    for (let turn = 0; turn < MOST; turn++) {
      const [{ heads }] = await this.store.apply([{ op: "anchor" }]);
      anchored += heads.length;
      if (heads.length === 0) break;
    }
    return { expired, anchored };
  }

  [Symbol.dispose](): void {
    this.stopped = true;
    this.next?.[Symbol.dispose]();
  }

  private async round(): Promise<void> {
    try {
      await this.sweep();
    } catch (error) {
      this.failed(error);
    }
    if (!this.stopped) this.next = this.timer.after(this.every_ms, () => void this.round());
  }
}
