import type { BudgetId } from "../core/budget.js";
import type { Decision } from "../core/decision.js";
import { offAbort, onAbort } from "./abort-listeners.js";

/** A call that wants to be admitted. */
export interface Attempt {
  /** The budgets on its path. */
  readonly path: readonly BudgetId[];
  readonly reserve: () => Promise<Decision>;
  /** Gives back what was reserved, when nobody wants it any more. */
  readonly release: () => Promise<unknown>;
}

interface Waiter extends Attempt {
  readonly answer: (decision: Decision) => void;
  readonly fail: (error: unknown) => void;
  busy: Decision;
}

/**
 * Calls that found a budget busy, first come, first served: whoever needs a budget that somebody waits for queues up
 * behind, so a large call is not starved by small ones. Calls that share no budget do not wait for each other.
 */
export class Queue {
  /** In the order in which they came. */
  private readonly waiters = new Set<Waiter>();
  private pumping = false;
  private again = false;

  get empty(): boolean {
    return this.waiters.size === 0;
  }

  /** Whether a call on this path would have to queue up. */
  blocks(path: readonly BudgetId[]): boolean {
    for (const waiter of this.waiters) if (blockersOf(waiter).some((id) => path.includes(id))) return true;
    return false;
  }

  /** Waits until an attempt gives anything but `busy`, or until the signal fires: then the latest `busy` is the answer. */
  wait(attempt: Attempt, busy: Decision, signal: AbortSignal): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        offAbort(signal, give);
        this.waiters.delete(waiter);
      };
      const waiter: Waiter = {
        ...attempt,
        busy,
        answer: (decision) => {
          leave();
          resolve(decision);
        },
        fail: (error) => {
          leave();
          reject(error);
        },
      };
      const give = () => {
        waiter.answer(waiter.busy);
        void this.pump();
      };
      this.waiters.add(waiter);
      if (signal.aborted) give();
      else onAbort(signal, give);
    });
  }

  /** Tries again, in order, everybody who is not behind somebody still waiting. */
  async pump(): Promise<void> {
    this.again = true;
    if (this.pumping) return;
    this.pumping = true;
    try {
      while (this.again && this.waiters.size > 0) {
        this.again = false;
        await this.round();
        // A store may tell of changes without end; timers and input must get their turn all the same.
        await new Promise((resolve) => setImmediate(resolve));
      }
    } finally {
      this.pumping = false;
    }
  }

  private async round(): Promise<void> {
    const blocked = new Set<BudgetId>();
    for (const waiter of this.waiters) {
      if (waiter.path.some((id) => blocked.has(id))) continue;
      await this.retry(waiter);
      if (this.waiters.has(waiter)) for (const id of blockersOf(waiter)) blocked.add(id);
    }
  }

  private async retry(waiter: Waiter): Promise<void> {
    try {
      const decision = await waiter.reserve();
      if (!this.waiters.has(waiter)) {
        // It gave up in the meantime, and was told that it was not admitted.
        if (decision.kind === "admitted") await waiter.release();
      } else if (decision.kind === "busy") waiter.busy = decision;
      else waiter.answer(decision);
    } catch (error) {
      waiter.fail(error);
    }
  }
}

/** The budgets a call waits for; its whole path when it has not looked yet. */
function blockersOf({ busy, path }: Waiter): readonly BudgetId[] {
  const ids = busy.findings.filter(({ refusal }) => refusal === "busy").map(({ budget }) => budget);
  return ids.length === 0 ? path : ids;
}
