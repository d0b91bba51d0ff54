import type { Amounts } from "../core/amount.js";
import type { BudgetId } from "../core/budget.js";
import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Action } from "../core/events.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Prediction } from "./foresight.js";
import type { Store } from "./store.js";

/** Something that answers requests to a language model, and knows beforehand what one may cost at most. */
export interface Model {
  /** Which model answers when a request names none. */
  readonly name?: string;
  /**
   * The most a request may use, in edge units. It throws when the price is not known, unless none is needed: then it names no
   * `cost_usd`.
   */
  quote(request: Json, pricing?: Pricing): BudgetAmounts | Promise<BudgetAmounts>;
  /** Makes the request. What it gives back may carry usage under any of the usual names. */
  call(request: Json, options: Calling): Promise<ModelAnswer>;
  /** Says which model answers a request that leaves it open; null when the request names one. Who cannot choose has no such method. */
  choose?(request: Json, about: Choosing): Promise<ModelChoice | null>;
  /**
   * Looks up what is known of calls like this one; null when nothing can be learned from it. Who does not learn has no such method,
   * and each of its calls holds all that it may use.
   */
  sited?(request: Json, about: CallSite): Promise<SitedCall | null>;
}

/** Whether a request has to have a price. */
export interface Pricing {
  /** Set where no budget that pays limits money: a model without a price may be asked then. */
  readonly unpriced: boolean;
}

/** What a call has to go by. */
export interface Calling {
  readonly signal: AbortSignal;
  /** The same for every try, so that the other side can tell a second one from a new one. */
  readonly key: string;
  /** Whose call it is: nobody else gets what it is answered, unless all share. Who reuses nothing does not ask. */
  readonly tenant?: () => Promise<string>;
}

export interface ModelAnswer {
  readonly value: Json;
  readonly usage?: unknown;
  /** What the chain is told of its price, beside what it is charged. */
  readonly notes?: readonly AnswerNote[];
  /** Set when it is what an identical call was answered, so that it costs nothing but a step. */
  readonly reused?: ReusedAnswer;
}

/** That an answer cost more than its call was priced at, or that it names something that has no price. */
export interface AnswerNote {
  readonly action_type: "AnswerDearer" | "AnswerUnpriced";
  readonly data: JsonObject;
}

/** How a call was spared, and what the identical one was charged, in USD. */
export interface ReusedAnswer {
  readonly kind: "in_flight" | "cache";
  readonly saved_usd: number;
}

/** Where a model call comes from, as far as its request does not say. */
export interface CallSite {
  /** The store that pays, in which what was learned is kept. */
  readonly store: Store;
  /** The program that makes it: what others are answered says nothing about it. */
  readonly within: string;
}

/** A model call to be made, with what is known of others like it. */
export interface SitedCall {
  /** What nearly all of them have used of what can be cut, in ledger units; null when that is not known, or no less than it may use. */
  readonly learned: Amounts | null;
  /** Makes the request, with an answer no longer than what is held for it pays for. It remembers how long that was. */
  call(granted: Amounts, options: Calling): Promise<SitedAnswer>;
}

export interface SitedAnswer extends ModelAnswer {
  /** Set when it was cut short because others hold something. */
  readonly cut: AnswerCut | null;
}

/** What the chain is told of an answer that was cut short. */
export interface AnswerCut {
  readonly site: string;
  readonly output_tokens: number;
  readonly full_output_tokens: number;
}

/** What a choice goes by. */
export interface Choosing {
  readonly store: Store;
  /** The budget that pays. */
  readonly budget: BudgetId;
  /** The chain that it writes into. */
  readonly chain: string;
  /** How many steps the run is expected to take; null when nobody knows. */
  readonly steps: Prediction | null;
  /** Waits until calls that are over for whoever asks are in the books, where that may come later. */
  readonly settled?: () => Promise<void>;
}

/** A model that was chosen for a request. */
export interface ModelChoice {
  readonly model: string;
  /** The request as that model gets it. */
  readonly request: Json;
  /** The most it may use, in edge units. */
  readonly asked: BudgetAmounts;
  /** What the chain is told; null when nothing has changed. */
  readonly switched: Action | null;
  /** What is to happen when it does not fit; null for what the budget's policy says. */
  readonly unfit: "pause" | "stop" | null;
  /** Its reservation is made, or never will be: until then others have to reckon with it. */
  entered(): void;
  /** The chain was not told of it after all. */
  untold(): void;
  /** What it has used in the end, in whatever form usage comes. */
  used(usage: unknown): void;
}
