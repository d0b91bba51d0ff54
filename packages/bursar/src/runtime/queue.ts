import type { BudgetId } from "../core/budget.js";
import type { Decision } from "../core/decision.js";

/** A call that waits for holds in flight. */
interface Waiter {
  readonly path: readonly BudgetId[];
  readonly attempt: () => Promise<Decision>;
  readonly answer: (decision: Decision) => void;
  readonly fail: (error: unknown) => void;
  /** The budgets it found busy. */
  blockers: readonly BudgetId[];
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

  /** Whether a call on this path would have to queue up. */
  blocks(path: readonly BudgetId[]): boolean {
    for (const { blockers } of this.waiters) if (blockers.some((id) => path.includes(id))) return true;
    return false;
  }

  /** Waits until an attempt gives anything but `busy`, or until the signal fires: then the latest `busy` is the answer. */
  wait(
    path: readonly BudgetId[],
    busy: Decision,
    attempt: () => Promise<Decision>,
    signal: AbortSignal,
  ): Promise<Decision> {
    return new Promise((resolve, reject) => {
      const leave = () => {
        signal.removeEventListener("abort", give);
        this.waiters.delete(waiter);
      };
      const waiter: Waiter = {
        path,
        attempt,
        blockers: blockersOf(busy, path),
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
        waiter.answer(busy);
        void this.pump();
      };
      this.waiters.add(waiter);
      if (signal.aborted) give();
      else signal.addEventListener("abort", give, { once: true });
    });
  }

  /** Tries again, in order, everybody who is not behind somebody still waiting. */
  async pump(): Promise<void> {
    this.again = true;
    if (this.pumping) return;
    this.pumping = true;
    try {
      while (this.again) {
        this.again = false;
        await this.round();
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
      if (this.waiters.has(waiter)) for (const id of waiter.blockers) blocked.add(id);
    }
  }

  private async retry(waiter: Waiter): Promise<void> {
    try {
      const decision = await waiter.attempt();
      if (decision.kind === "busy") waiter.blockers = blockersOf(decision, waiter.path);
      else waiter.answer(decision);
    } catch (error) {
      waiter.fail(error);
    }
  }
}

/** The budgets a call waits for; its whole path when it has not looked yet. */
function blockersOf(decision: Decision, path: readonly BudgetId[]): readonly BudgetId[] {
  const busy = decision.findings.filter(({ refusal }) => refusal === "busy").map(({ budget }) => budget);
  return busy.length === 0 ? path : busy;
}
