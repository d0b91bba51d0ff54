import type { Prediction } from "../../ports/foresight.js";
import type { Reason, Standing } from "./select.js";

/** A quote of one call at one tier. */
interface Quoted {
  readonly quote: Readonly<Record<string, number>>;
}

/** The tier that the calls of a step stay at. */
export interface Kept {
  readonly tier: number;
  /** Why it was chosen for the first of them. */
  readonly reason: Reason;
  /** Whether the chain knows. */
  told: boolean;
}

/** Of so many steps the tier is kept in mind, those that were heard of last. */
const MOST_STEPS = 1000;

/** How the calls of one budget have gone so far: where they stand, and what they cost. */
export class Course {
  standing: Standing | null = null;
  /** The tier of the last call, which may have been an exception. */
  last: number | null = null;
  calls = 0;
  /** Why the calls stand where they do, as long as the chain was not told. */
  untold: Reason | null = null;
  /** How many steps are expected in all; null until somebody has looked. */
  expected: { readonly steps: Prediction | null } | null = null;
  /** Whether it was looked up which steps somebody else has begun. */
  recalled = false;
  private readonly steps = new Map<string, Kept>();
  private readonly sums: number[];
  private readonly counts: number[];

  constructor(tiers: number) {
    this.sums = new Array<number>(tiers).fill(0);
    this.counts = new Array<number>(tiers).fill(0);
  }

  /** The tier that a step stays at; null before its first call. */
  kept(step: string | null): Kept | null {
    const kept = step === null ? undefined : this.steps.get(step);
    if (step === null || kept === undefined) return null;
    // Those that go on stand behind those that do not.
    this.steps.delete(step);
    this.steps.set(step, kept);
    return kept;
  }

  /** A step stays at the tier of its first call; whoever comes later changes nothing. */
  keep(step: string, kept: Kept): Kept {
    const known = this.steps.get(step);
    if (known !== undefined) return known;
    this.steps.set(step, kept);
    const [oldest] = this.steps.keys();
    if (this.steps.size > MOST_STEPS && oldest !== undefined) this.steps.delete(oldest);
    return kept;
  }

  /** What a call costs at a tier on average, in billionths of a dollar. */
  mean(tier: number): number | null {
    const count = this.counts[tier] ?? 0;
    return count === 0 ? null : (this.sums[tier] ?? 0) / count;
  }

  /**
   * Counts what a call has cost. At the other tiers it would have cost as much more or less as it was quoted there, which is how all
   * of them are known after one call.
   */
  settle(offers: readonly (Quoted | null)[], tier: number, nano: number): void {
    const own = offers[tier]?.quote.cost_usd ?? 0;
    // Another's call has answered it, or the provider has refused it: that says nothing about what calls cost.
    if (nano === 0 && own > 0) return;
    offers.forEach((offer, index) => {
      if (offer === null) return;
      const quoted = offer.quote.cost_usd ?? 0;
      // A model that costs nothing says nothing about the others, which are taken at their quotes.
      const cost = index === tier ? nano : own === 0 ? quoted : (nano * quoted) / own;
      this.sums[index] = (this.sums[index] ?? 0) + cost;
      this.counts[index] = (this.counts[index] ?? 0) + 1;
    });
  }
}
