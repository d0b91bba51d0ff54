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
  /** Compares a few budgets with their chains in every round: `Housekeeping.sample()` makes one. */
  readonly check?: SampledChecks;
  /** Told of each difference that the check finds, once. */
  readonly differs?: (defect: SampledDefect) => void;
  /** Told when a round has failed, as when the store is away; the next one comes all the same. */
  readonly failed?: (error: unknown) => void;
}

/** Something that a store says, and its chains do not. */
export interface SampledDefect {
  readonly where: string;
  readonly problem: string;
}

/** What one part of a check has come to. */
export interface CheckedSample {
  readonly budgets: number;
  readonly defects: readonly SampledDefect[];
  /** Whether all chains have had their turn, and it begins anew. */
  readonly isRound: boolean;
}

/** A check that goes through a store part by part. */
export interface SampledChecks {
  next(): Promise<CheckedSample>;
}

/** What was checked since the sweeper was started. */
export interface StoreChecks {
  readonly budgets: number;
  /** Each difference counts once, however often it is seen. */
  readonly differences: number;
  readonly rounds: number;
  /** The instant of the last part; null when there was none. */
  readonly last: number | null;
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
/** When all budgets were checked, they are left alone for so long. */
const REST_MS = 60_000;
/** So many differences are remembered, so that each is told once. */
const MOST_TOLD = 10_000;

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
  private readonly check: SampledChecks | null;
  private readonly differs: (defect: SampledDefect) => void;
  private readonly told = new Set<string>();
  private checked: StoreChecks = { budgets: 0, differences: 0, rounds: 0, last: null };
  private restsUntil = 0;
  private underWay: Promise<void> = Promise.resolve();

  constructor(options: SweeperOptions) {
    checkKeys(options, "options", ["store", "every_ms", "timer", "check", "differs", "failed"]);
    const { store, every_ms = EVERY_MS, timer = backgroundTimer, check = null } = options;
    const { differs = () => {}, failed = () => {} } = options;
    if (typeof store?.apply !== "function") throw new InputError("store", `is ${show(store)}; allowed: a store`);
    checkWait(every_ms, "every_ms");
    this.store = store;
    this.holds = holdWatchFor(store);
    this.every_ms = every_ms;
    this.timer = timer;
    this.failed = failed;
    this.check = check;
    this.differs = differs;
  }

  /** What was checked so far. */
  get checks(): StoreChecks {
    return this.checked;
  }

  /** Sweeps now, and from then on until it is disposed. */
  start(): void {
    if (this.next !== null || this.stopped) return;
    this.begin(0);
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

  /** Compares the next few budgets with their chains. */
  async sample(): Promise<void> {
    const { check } = this;
    const { instant } = this.store.clock.now();
    if (check === null || instant < this.restsUntil) return;
    const { budgets, defects, isRound } = await check.next();
    if (isRound) this.restsUntil = instant + REST_MS;
    const fresh = defects.filter(({ where, problem }) => !this.told.has(`${where}: ${problem}`));
    const { budgets: before, differences, rounds } = this.checked;
    this.checked = {
      budgets: before + budgets,
      differences: differences + fresh.length,
      rounds: rounds + (isRound ? 1 : 0),
      last: instant,
    };
    for (const defect of fresh) {
      if (this.told.size >= MOST_TOLD) this.told.clear();
      this.told.add(`${defect.where}: ${defect.problem}`);
      this.differs(defect);
    }
  }

  [Symbol.dispose](): void {
    this.stopped = true;
    this.next?.[Symbol.dispose]();
  }

  /** The same, and waits for the round that is under way. */
  async close(): Promise<void> {
    this[Symbol.dispose]();
    await this.underWay;
  }

  private async round(): Promise<void> {
    try {
      await this.sweep();
      await this.sample();
    } catch (error) {
      this.failed(error);
    }
    if (!this.stopped) this.begin(this.every_ms);
  }

  private begin(after_ms: number): void {
    this.next = this.timer.after(after_ms, () => {
      this.underWay = this.round();
    });
  }
}
