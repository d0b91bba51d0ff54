import type { Json } from "../core/chain/canonical.js";
import type { Dimensions } from "../core/dimensions.js";
import type { BudgetAmounts } from "../core/input.js";

/** What one dimension is expected to take, in ledger units. */
export interface Prediction {
  /** As many runs take more as take less. */
  readonly median: number;
  /** What 95 of 100 runs do not pass. */
  readonly upper: number;
}

/** What one source says about a run before it begins. Dimensions it knows nothing about are left out. */
export interface Opinion {
  readonly dimensions: Readonly<Record<string, Prediction>>;
  /** Where the figures come from, for people: "41 of 120 runs with an input of about this size". */
  readonly about: string;
}

/** What is known beforehand about the things that a program may ask for. */
export interface Known {
  /** The dimensions of the store, by which amounts in edge units are read. */
  readonly dimensions: Dimensions;
  /** The most a tool may use, in edge units; null when it does not say, or is not there. Arguments that are not known are null. */
  tool(name: string, args: Json): BudgetAmounts | null;
  /** The same for a request to the model. */
  model(request: Json): Promise<BudgetAmounts | null>;
  /** What a program below is expected to take; null when nobody knows. */
  program(name: string, input: Json): Promise<Opinion | null>;
}

/** What somebody is asked who predicts what a run will take, without executing it. */
export interface Question {
  readonly program: {
    readonly kind: string;
    readonly name: string;
    readonly source: string | null;
    /** Whether somebody has brought it along who may not decide: its name is his choice, and says nothing. */
    readonly brought?: boolean;
  };
  readonly input: Json;
  /** The dimensions that a prediction is wanted of, with their units. */
  readonly dimensions: readonly { readonly id: string; readonly unit: string }[];
  /** What other sources say, as far as they say anything. */
  readonly others: readonly Opinion[];
}

/** Predicts what a run will take, by asking a model; the call is paid for from a budget of its own. */
export interface Predictor {
  /** Null when nothing came of it: its budget is used up, or the answer made no sense. */
  predict(question: Question): Promise<Opinion | null>;
}
