import type { BudgetId } from "../core/budget.js";
import type { Notice } from "../core/notice.js";
import { COST, TIME, TOKENS } from "./dimensions.js";

/** Told once for each limit on cost, tokens and time, when 80 % of it is used: `Cost at 80% of budget`. */
export type OnWarning = (text: string) => void;

/** The limits a controller warns of. */
const SUBJECTS: ReadonlyMap<string, string> = new Map([
  [COST, "Cost"],
  [TOKENS, "Tokens"],
  [TIME, "Time"],
]);

/** Percentages of a limit at which a controller warns. */
export const THRESHOLDS: readonly number[] = Object.freeze([80]);

/** Keeps what the ledger tells until its own work is done, because a callback may throw, or come back with more usage. */
export class Warnings {
  private readonly listeners = new Map<BudgetId, OnWarning>();
  private readonly pending: (() => void)[] = [];

  listen(budget: BudgetId, onWarning: OnWarning): void {
    this.listeners.set(budget, onWarning);
  }

  forget(budget: BudgetId): void {
    this.listeners.delete(budget);
  }

  note({ kind, budget, dimension, consumed, limit }: Notice): void {
    const subject = SUBJECTS.get(dimension);
    const onWarning = this.listeners.get(budget);
    if (kind !== "Warning" || subject === undefined || onWarning === undefined) return;
    const percent = Math.round((consumed * 100) / limit);
    this.pending.push(() => onWarning(`${subject} at ${percent}% of budget`));
  }

  /** Every warning is delivered, also when a callback throws; its error goes on to the caller afterwards. */
  deliver(): void {
    const errors: unknown[] = [];
    for (let next = this.pending.shift(); next !== undefined; next = this.pending.shift()) {
      try {
        next();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 1) throw new AggregateError(errors, "several onWarning callbacks have thrown");
    if (errors.length === 1) throw errors[0];
  }
}
