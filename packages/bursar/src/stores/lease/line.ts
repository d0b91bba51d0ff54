import type { Amounts } from "../../core/amount.js";
import type { OutcomeOf, ReserveOperation } from "../../core/operation.js";
import type { Store } from "../../ports/store.js";
import type { Holder, Refill } from "./holder.js";
import { added } from "./share.js";

type Reserved = OutcomeOf<ReserveOperation>;

interface Waiter {
  readonly operation: ReserveOperation;
  readonly asked: Amounts;
  readonly resolve: (outcome: Reserved) => void;
  readonly reject: (error: unknown) => void;
}

export interface LineOptions {
  readonly holder: Holder;
  readonly store: Store;
  /** Serves a call from the slices there are; null when it does not fit. */
  readonly serve: (operation: ReserveOperation, asked: Amounts) => Promise<Reserved | null>;
  /** How long others are given to hand back what they do not use. */
  readonly recall_ms: number;
}

/** So many are counted in when a slice is sized. */
const COUNTED_IN = 256;
const LOOK_MS = 25;

/**
 * Those who found the slices empty, in order. One of them after the other is served from a new slice; who cannot be, even
 * after a recall, is decided by the store itself, like any other call.
 */
export class Line {
  private readonly options: LineOptions;
  private readonly waiting: Waiter[] = [];
  private working = false;

  constructor(options: LineOptions) {
    this.options = options;
  }

  wait(operation: ReserveOperation, asked: Amounts): Promise<Reserved> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ operation, asked, resolve, reject });
      if (!this.working) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.working = true;
    // Everybody who asks in this turn of the event loop is counted in.
    await null;
    while (this.waiting.length > 0) {
      try {
        if ((await this.serveAll()) === 0) await this.next();
      } catch (error) {
        this.waiting.shift()?.reject(error);
      }
    }
    this.working = false;
  }

  /** Serves from the front until one does not fit, and says how many it has served. */
  private async serveAll(): Promise<number> {
    const { serve } = this.options;
    let served = 0;
    for (let waiter = this.waiting[0]; waiter !== undefined; waiter = this.waiting[0]) {
      const outcome = await serve(waiter.operation, waiter.asked);
      if (outcome === null) break;
      waiter.resolve(outcome);
      this.waiting.shift();
      served++;
    }
    return served;
  }

  /** Nobody is served any more; those who wait are told why. */
  end(reason: Error): void {
    for (const { reject } of this.waiting.splice(0)) reject(reason);
  }

  /** Gets a new slice, or an answer for the first in line. */
  private async next(): Promise<void> {
    const { holder, store } = this.options;
    const [first] = this.waiting;
    if (first === undefined) return;
    const others = await holder.others();
    const all = this.waiting.slice(0, COUNTED_IN).reduce<Amounts>((sum, { asked }) => added(sum, asked), {});
    let refill = await holder.refill(all, others.length + 1);
    if (refill.kind === "refused") refill = await holder.refill(first.asked, others.length + 1);
    if (isBusy(refill)) refill = await this.recall(first.asked);
    // What can be cut is cut by the store, to what is left once our own slices are back there.
    else if (refill.kind === "refused" && first.operation.least !== undefined) await this.clear();
    if (refill.kind === "leased" || this.waiting[0] !== first) return;
    this.waiting.shift();
    try {
      const [outcome] = await store.apply([first.operation]);
      first.resolve(outcome);
    } catch (error) {
      first.reject(error);
    }
  }

  /** Gives back what is not used here, and asks others for the same. */
  private async clear(): Promise<void> {
    const { holder } = this.options;
    await holder.yieldAll();
    const others = await holder.others();
    if (others.length > 0) await holder.recall(others);
  }

  /** A slice that others do not use is as good as free; so we ask for it before we give up. */
  private async recall(need: Amounts): Promise<Refill> {
    const { holder, store, recall_ms } = this.options;
    await holder.yieldAll();
    const until = performance.now() + recall_ms;
    let refill = await holder.refill(need, 1);
    while (isBusy(refill) && performance.now() < until) {
      const others = await holder.others();
      await holder.recall(others);
      await news(store, LOOK_MS);
      refill = await holder.refill(need, others.length + 1);
      if (others.length === 0) break;
    }
    return refill;
  }
}

function isBusy(refill: Refill): boolean {
  return refill.kind === "refused" && refill.decision.kind === "busy";
}

/** Waits until the store has something to tell, but not for long. */
function news(store: Store, ms: number): Promise<void> {
  return new Promise((resolve) => {
    const watching = store.watch(done);
    const timer = setTimeout(done, ms);
    function done(): void {
      clearTimeout(timer);
      watching[Symbol.dispose]();
      resolve();
    }
  });
}
