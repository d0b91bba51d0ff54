import type { Tier } from "../tiers/tier-list.js";
import type { Wish } from "../tiers/wish.js";
import type { MeteredRequest } from "./meter.js";

/** What makes a request one that leaves open which model answers it. */
export interface OpenModel extends Wish {
  /** As it was named: `bursar/auto`. */
  readonly model: string;
  /** What it needs, as far as that shows. */
  readonly shown: ReadonlySet<string>;
  /** The same request to one tier; null when it cannot be made there. */
  as(tier: Tier): MeteredRequest | null;
}

/** Which tier a request that left it open was given. */
export interface ChosenTier {
  readonly list: string;
  readonly tier: string;
  readonly model: string;
}
