import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Pricing } from "./model.js";

const LONGEST_NAME = 100;

/** What a name for batches may be. */
export const BATCH_NAME_RULE: string = `1 to ${LONGEST_NAME} characters that can be printed`;

export function isBatchName(name: unknown): name is string {
  return typeof name === "string" && name !== "" && name.length <= LONGEST_NAME && !/\p{Cc}/u.test(name);
}

/** What takes model calls that can wait, and brings their answers when a provider has had the time. */
export interface Batches {
  /** The model of requests that name none; it may leave open which one that is, as `bursar/auto`. */
  readonly model?: string;
  /**
   * What a request would be sent as, and the most it may use. It throws when the request makes no sense, or has no price where one is
   * needed.
   */
  terms(request: Json, pricing?: Pricing): Promise<BatchTerms>;
  /**
   * Does what is due: sends what has waited long enough, looks for answers, settles them, and wakes the runs that stand still
   * for them. Any number of processes may do so on one store: one of them does at a time.
   */
  round(options?: { readonly signal?: AbortSignal }): Promise<void>;
}

/** A request that can wait, before it is handed over. */
export interface BatchTerms {
  /** Who sends it: a provider, at an address. */
  readonly outlet: string;
  readonly provider: string;
  readonly model: string;
  /** The request as it is sent. */
  readonly body: JsonObject;
  /** The most it may use at the price of batches, in edge units. */
  readonly asked: BudgetAmounts;
  /** What the same would cost at most if it did not wait; null where the model has no price. */
  readonly full_usd: number | null;
}
