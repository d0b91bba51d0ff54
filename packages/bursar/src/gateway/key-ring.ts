import type { Clock } from "../ports/clock.js";

/** Who knows what a secret belongs to. */
export interface Finder<Found> {
  find(secret: string): Promise<Found | null>;
}

/** What was revoked is still taken for so long at most. */
const KEPT_MS = 1000;
const MOST_KEPT = 10_000;

interface Kept<Found> {
  readonly found: Found;
  readonly until: number;
}

/** Remembers for a moment what a secret belongs to, so that not every request has to look it up. */
export class KeyRing<Found> {
  private readonly finder: Finder<Found>;
  private readonly clock: Clock;
  private readonly kept = new Map<string, Kept<Found>>();

  constructor(finder: Finder<Found>, clock: Clock) {
    this.finder = finder;
    this.clock = clock;
  }

  /** What is remembered; null where somebody has to be asked. */
  known(secret: string): Found | null {
    const known = this.kept.get(secret);
    return known !== undefined && this.clock.now().monotonic < known.until ? known.found : null;
  }

  async find(secret: string): Promise<Found | null> {
    const known = this.known(secret);
    if (known !== null) return known;
    const { monotonic } = this.clock.now();
    const found = await this.finder.find(secret);
    // What belongs to nothing is not kept, or whoever guesses would fill it.
    if (found !== null) {
      if (this.kept.size >= MOST_KEPT) this.kept.clear();
      this.kept.set(secret, { found, until: monotonic + KEPT_MS });
    } else this.kept.delete(secret);
    return found;
  }
}
