import type { JSX } from "preact";
import { exactAmount, formatAmount } from "../format/amount.js";

/** An amount, short; in full for whoever points at it. */
export function Amount({ dimension, value }: { readonly dimension: string; readonly value: number }): JSX.Element {
  return (
    <span class="amount" title={exactAmount(dimension, value)}>
      {formatAmount(dimension, value)}
    </span>
  );
}
