import type { Amounts } from "../../core/amount.js";

type Sums = Readonly<Record<string, number>>;

interface Entry {
  readonly quote: Amounts;
  /** When it is forgotten, in milliseconds of running time. */
  readonly until: number;
}

interface Pending {
  readonly sums: Record<string, number>;
  /** In the order in which they came, which is that in which they are forgotten. */
  readonly entries: Set<Entry>;
}

/** Whoever has not reserved by then waits for others, or was given up without a word. */
const LONGEST_MS = 60_000;

/**
 * What was chosen and is not reserved yet. Calls that begin at the same moment would all see the same money otherwise, and all
 * choose what only one of them can have.
 */
export class PendingQuotes {
  private readonly budgets = new Map<string, Pending>();

  /** What is pending now. To be asked before it is looked what is left, because what is reserved meanwhile is not seen there. */
  of(budget: string, now: number): Sums {
    return { ...this.current(budget, now) };
  }

  /** Takes off what is pending: the more of before and now, because to count a call twice for a moment does no harm. */
  subtract(budget: string, before: Sums, left: Record<string, number>, now: number): void {
    const current = this.current(budget, now);
    for (const id in left) {
      const pending = Math.max(before[id] ?? 0, current[id] ?? 0);
      if (pending > 0) left[id] = (left[id] as number) - pending;
    }
  }

  /** Adds a quote; it is taken off again, once, by what this gives back. */
  add(budget: string, quote: Amounts, now: number): () => void {
    const pending = this.budgets.get(budget) ?? { sums: {}, entries: new Set() };
    this.budgets.set(budget, pending);
    const entry: Entry = { quote, until: now + LONGEST_MS };
    pending.entries.add(entry);
    for (const id in quote) pending.sums[id] = (pending.sums[id] ?? 0) + (quote[id] as number);
    return () => this.take(budget, pending, entry);
  }

  private current(budget: string, now: number): Sums {
    const pending = this.budgets.get(budget);
    if (pending === undefined) return {};
    for (const entry of pending.entries) {
      if (entry.until > now) break;
      this.take(budget, pending, entry);
    }
    return pending.sums;
  }

  private take(budget: string, pending: Pending, entry: Entry): void {
    if (!pending.entries.delete(entry)) return;
    const { quote } = entry;
    for (const id in quote) pending.sums[id] = (pending.sums[id] ?? 0) - (quote[id] as number);
    if (pending.entries.size === 0 && this.budgets.get(budget) === pending) this.budgets.delete(budget);
  }
}
