import type { Clock } from "../ports/clock.js";

/** How often somebody may ask: so many at once, and so many a second in the long run. */
export interface Rate {
  readonly burst: number;
  readonly per_second: number;
}

interface Bucket {
  readonly left: number;
  readonly at: number;
}

const MOST_KEPT = 10_000;

/** Counts how often each of many asks, and says when it is too often. Whoever has been quiet for long enough is forgotten. */
export class Pace {
  private readonly rate: Rate;
  private readonly clock: Clock;
  private readonly kept = new Map<string, Bucket>();

  constructor(rate: Rate, clock: Clock) {
    this.rate = rate;
    this.clock = clock;
  }

  /** Takes one; 0 when there was one to take, else for how many milliseconds there is none. */
  take(who: string): number {
    const { monotonic: now } = this.clock.now();
    const left = this.leftOf(who, now);
    // Written anew at the end, so that those who were heard of last are forgotten last.
    this.kept.delete(who);
    if (this.kept.size >= MOST_KEPT) this.forget();
    const granted = left >= 1;
    this.kept.set(who, { left: granted ? left - 1 : left, at: now });
    return granted ? 0 : Math.ceil(((1 - left) / this.rate.per_second) * 1000);
  }

  private leftOf(who: string, now: number): number {
    const { burst, per_second } = this.rate;
    const known = this.kept.get(who);
    if (known === undefined) return burst;
    return Math.min(burst, known.left + ((now - known.at) / 1000) * per_second);
  }

  /** Those who were quiet the longest; a table that is full is no reason to turn somebody away. */
  private forget(): void {
    let most = MOST_KEPT / 10;
    for (const who of this.kept.keys()) {
      if (most-- <= 0) return;
      this.kept.delete(who);
    }
  }
}
