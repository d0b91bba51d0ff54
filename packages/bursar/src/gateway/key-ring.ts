import type { Clock } from "../ports/clock.js";
import type { GatewayKey, Keys } from "./keys.js";

/** A revoked key is still taken for so long at most. */
const KEPT_MS = 1000;
const MOST_KEPT = 10_000;

interface Kept {
  readonly key: GatewayKey | null;
  readonly until: number;
}

/** Remembers for a moment which key a secret belongs to, so that not every request has to look it up. */
export class KeyRing {
  private readonly keys: Keys;
  private readonly clock: Clock;
  private readonly kept = new Map<string, Kept>();

  constructor(keys: Keys, clock: Clock) {
    this.keys = keys;
    this.clock = clock;
  }

  async find(secret: string): Promise<GatewayKey | null> {
    const { monotonic } = this.clock.now();
    const known = this.kept.get(secret);
    if (known !== undefined && monotonic < known.until) return known.key;
    const key = await this.keys.find(secret);
    // What is no key is not kept, or whoever guesses would fill it.
    if (key !== null) {
      if (this.kept.size >= MOST_KEPT) this.kept.clear();
      this.kept.set(secret, { key, until: monotonic + KEPT_MS });
    } else this.kept.delete(secret);
    return key;
  }
}
