import type { Amounts } from "../core/amount.js";

/** What one run of a program took in the end. */
export interface Sample {
  /** The size of its input as canonical JSON. */
  readonly input_bytes: number;
  /** In ledger units, by dimension. */
  readonly used: Amounts;
  /** The most that was held for one call and not taken by it, by dimension; absent where nobody has looked. */
  readonly spare?: Amounts;
  /** It did not come to its end: it would have taken more, and nobody knows how much. */
  readonly cut: boolean;
  /** The version of the program that it was. */
  readonly digest: string;
}
