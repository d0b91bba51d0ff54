import { AsyncLocalStorage } from "node:async_hooks";
import { type Amount, type Amounts, NONE } from "../core/amount.js";
import type { CallId } from "../core/call.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Operation, Outcome } from "../core/operation.js";

const current = new AsyncLocalStorage<InnerCharges>();

/**
 * What the governed calls that a tool makes are charged, while the tool is at work. A tool may report all that it took in its result;
 * what was charged already does not count a second time.
 */
export class InnerCharges {
  /** By call: as charged, or as held while it is under way. */
  private readonly amounts = new Map<CallId, Amounts>();

  static current(): InnerCharges | null {
    return current.getStore() ?? null;
  }

  during<Value>(work: () => Value): Value {
    return current.run(this, work);
  }

  /** Told of everything that is written meanwhile. */
  see(operations: readonly Operation[], outcomes: readonly Outcome[]): void {
    for (const [index, operation] of operations.entries()) {
      const outcome = outcomes[index];
      if (operation.op === "reserve" && outcome?.op === "reserve" && outcome.decision.kind === "admitted") {
        this.amounts.set(operation.call, outcome.granted);
      } else if (operation.op === "commit" && outcome?.op === "commit") {
        this.amounts.set(operation.call, outcome.charged);
      } else if (operation.op === "release") this.amounts.delete(operation.call);
    }
  }

  /** What of a report has not been charged yet. Zero where all of it has: then nothing more is. */
  beyond(reported: Amounts, dimensions: Dimensions): Amounts {
    if (this.amounts.size === 0) return reported;
    const rest = Object.entries(reported).map(([id, amount]) => {
      const charged = dimensions.get(id).kind === "sum" ? this.sumOf(id) : NONE;
      return [id, Math.max(0, amount - charged) as Amount] as const;
    });
    return Object.fromEntries(rest);
  }

  private sumOf(id: string): number {
    let sum = 0;
    for (const amounts of this.amounts.values()) sum += amounts[id] ?? NONE;
    return sum;
  }
}
