import { InputError, show } from "../core/errors.js";
import type { Clock } from "../ports/clock.js";
import { systemClock } from "../runtime/system-clock.js";
import { Deadline } from "./deadline.js";
import { BudgetExceededError } from "./errors.js";
import { readFields } from "./fields.js";
import { serializeBudget } from "./serialized-budget.js";
import { type RemainingTokens, readTokenLimit, readTokenUsage, type TokenLimit, type TokenUsage } from "./tokens.js";

export interface BudgetParts {
  /** When it ends; null or absent: no matter how long it takes. */
  readonly deadline?: Deadline | null;
  /** How many tokens it allows; null or absent: only the deadline is enforced. */
  readonly tokenLimit?: TokenLimit | null;
}

/**
 * A deadline and token ceilings for a prompt and everything it delegates. It is immutable; what has been used is counted
 * for the object itself, so whoever is given the same object shares it, and evaluating a prompt again adds to the count.
 *
 * @example
 * ```ts
 * const budget = new Budget({
 *   deadline: new Deadline(Date.now() + 60_000),
 *   tokenLimit: { input: 10_000, output: 2_000 },
 * });
 * budget.remainingTokens({ input: 4_000, output: 0 }); // { input: 6000, output: 2000 }
 * ```
 */
export class Budget {
  readonly deadline: Deadline | null;
  readonly tokenLimit: Required<TokenLimit> | null;
  /** What `remainingTime` reads when it is given no instant. */
  readonly clock: Clock;

  constructor(parts: BudgetParts, { clock = systemClock }: { readonly clock?: Clock } = {}) {
    const { deadline = null, tokenLimit = null } = readFields(parts, "budget", ["deadline", "tokenLimit"]);
    if (deadline !== null && !(deadline instanceof Deadline)) {
      throw new InputError("budget.deadline", `is ${show(deadline)}; allowed: a Deadline, or null`);
    }
    this.clock = clock;
    this.deadline = deadline;
    this.tokenLimit = tokenLimit === null ? null : readTokenLimit(tokenLimit, "budget.tokenLimit");
    const left = this.remainingTime();
    if (left !== null && left <= 0) {
      throw new InputError("budget.deadline", `has passed ${-left} ms ago; allowed: an instant to come`);
    }
    Object.freeze(this);
  }

  /** Milliseconds until the deadline, negative once it has passed; null without one. */
  remainingTime(now: Date | number = Math.floor(this.clock.now().instant)): number | null {
    return this.deadline === null ? null : this.deadline.remaining(now);
  }

  /** What this usage leaves of each kind; null where a kind is unbounded, and null when no tokens are limited at all. */
  remainingTokens(usage: TokenUsage): RemainingTokens | null {
    const { input, output } = readTokenUsage(usage, "usage");
    if (this.tokenLimit === null) return null;
    return Object.freeze({
      input: this.tokenLimit.input === null ? null : this.tokenLimit.input - input,
      output: this.tokenLimit.output === null ? null : this.tokenLimit.output - output,
    });
  }

  /** Raises `BudgetExceededError` when a bounded kind of tokens meets or exceeds its limit. */
  assertWithinLimit(usage: TokenUsage): void {
    const remaining = this.remainingTokens(usage);
    for (const kind of ["input", "output"] as const) {
      const left = remaining?.[kind] ?? null;
      if (left !== null && left <= 0) {
        throw new BudgetExceededError(
          kind,
          `${usage[kind]} of ${this.tokenLimit?.[kind]} ${kind} tokens are used; a larger tokenLimit.${kind} is needed`,
          { budget: serializeBudget(this, readTokenUsage(usage, "usage")), promptName: null },
        );
      }
    }
  }

  /** What it allows, as errors carry it. Usage belongs to the evaluations, which add it. */
  toJSON(): { readonly deadline: string | null; readonly tokenLimit: Required<TokenLimit> | null } {
    return { deadline: this.deadline?.toJSON() ?? null, tokenLimit: this.tokenLimit };
  }
}
