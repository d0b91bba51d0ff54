import type { TiersOptions } from "../../ports/tiers.js";
import type { PricesOptions } from "../prices/open-prices.js";
import type { ModelDeployments } from "../wire/deployments.js";
import type { AllowedMembers } from "./allowed-members.js";

export interface MeterOptions extends PricesOptions {
  /**
   * Which model each deployment runs, for servers that know models by names of their own, as Azure does:
   * `{ "chat-prod": "gpt-4o-mini" }`. A deployment that is neither named here nor called like a known model is not called.
   */
  readonly deployments?: ModelDeployments;
  /** The most an answer may have when neither the request nor the model's maker says so: 4,096. */
  readonly output_tokens?: number;
  /** Whether a tokenizer may show that a request is smaller than its bytes, when it would not fit otherwise: true. */
  readonly tokenizer?: boolean;
  /**
   * What is held for a call when little is left and others hold something too: what calls from the same place have needed so far
   * ("learned"), so that more of them run at once, or always as much as its answer may have at most ("full"). In either case no
   * answer can have more than what is held for it.
   */
  readonly reservations?: Reservations;
  /** Lists of models to choose from: a request for `bursar/<name>` goes to the best of a list that fits what is left. */
  readonly tiers?: TiersOptions;
  /**
   * What is sent to a host though it may choose another model or bring input from elsewhere, by host: members of a body, headers
   * and parameters of the address. Without it they are refused.
   */
  readonly allow?: AllowedMembers;
}

export type Reservations = "learned" | "full";

/** A record and no list, because then the compiler misses what was forgotten. */
const FIELDS: Readonly<Record<keyof MeterOptions, true>> = {
  prices: true,
  assume: true,
  clock: true,
  deployments: true,
  output_tokens: true,
  tokenizer: true,
  reservations: true,
  tiers: true,
  allow: true,
};

/** What whoever governs calls takes for the meter below. */
export const METER_KEYS: readonly string[] = Object.keys(FIELDS);

/** What of somebody's options is for the meter. */
export function meterOptions(options: MeterOptions): MeterOptions {
  return Object.fromEntries(Object.entries(options).filter(([key, value]) => key in FIELDS && value !== undefined));
}
