import type { JSX } from "preact";
import { formatAmount } from "../format/amount.js";
import { labelOf, nounOf } from "../format/dimension.js";
import { AmountInput } from "../parts/amount-input.js";
import { amountProblem, type Purpose } from "./amounts.js";

interface AmountFieldProps {
  readonly dimension: string;
  readonly typed: string;
  /** What the limit is now, if there is one to be extended. */
  readonly limit: number | null;
  /** Whether it is added to a limit, or is one. */
  readonly purpose?: Purpose;
  readonly onType: (text: string) => void;
  /** Takes the whole field back; absent for one that stays. */
  readonly onRemove?: () => void;
}

/** An amount to be granted, and what the limit becomes with it. */
export function AmountField(props: AmountFieldProps): JSX.Element {
  const { dimension, typed, limit, purpose = "extension", onType, onRemove = null } = props;
  const isExtension = purpose === "extension";
  return (
    <AmountInput
      dimension={dimension}
      label={isExtension ? `More ${nounOf(dimension)}` : `Limit of ${labelOf(dimension).toLowerCase()}`}
      typed={typed}
      problem={amountProblem(dimension, typed, purpose)}
      note={isExtension ? becomes(dimension, typed, limit) : limited(dimension, typed)}
      onType={onType}
      onRemove={onRemove}
    />
  );
}

function becomes(dimension: string, typed: string, limit: number | null): string {
  if (typed.trim() === "") return "Not extended.";
  const more = Number(typed);
  if (limit === null) return `${formatAmount(dimension, more)} more.`;
  return `The limit becomes ${formatAmount(dimension, limit + more)}.`;
}

function limited(dimension: string, typed: string): string {
  if (typed.trim() === "") return "Not limited.";
  const limit = Number(typed);
  return limit === 0 ? "Nothing of it is allowed." : `Up to ${formatAmount(dimension, limit)}.`;
}
