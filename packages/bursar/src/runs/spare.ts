import type { Amount, Amounts } from "../core/amount.js";
import type { Operation } from "../core/operation.js";

/** Calls that were refused are never heard of again: so many are kept in mind. */
const MOST_ASKED = 1000;

/** Sees what is held for the calls of tools and models, and how much of that they do not take. */
export class Spare {
  /** The most that one call has left over, by dimension. */
  readonly most: Record<string, Amount> = {};
  private readonly asked = new Map<string, Amounts>();

  see(operation: Operation): void {
    if (operation.op === "release") this.asked.delete(operation.call);
    else if (operation.op === "commit") this.settle(operation.call, operation.used);
    // Who computes holds all that is left, which says nothing.
    else if (operation.op === "reserve" && (operation.kind === "tool" || operation.kind === "model")) {
      this.asked.set(operation.call, operation.asked);
      const [oldest] = this.asked.keys();
      if (this.asked.size > MOST_ASKED && oldest !== undefined) this.asked.delete(oldest);
    }
  }

  /** Of what is not reported all that is held is charged, so that nothing is left over. */
  private settle(call: string, used: Amounts): void {
    for (const [id, amount] of Object.entries(this.asked.get(call) ?? {})) {
      const left = amount - (used[id] ?? amount);
      if (left > (this.most[id] ?? 0)) this.most[id] = left as Amount;
    }
    this.asked.delete(call);
  }
}
