import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { formatAmount, unitOf } from "../format/amount.js";
import { labelOf, nounOf } from "../format/dimension.js";
import { Removable } from "../parts/removable.js";
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
  const id = useId();
  const problem = amountProblem(dimension, typed, purpose);
  const unit = unitOf(dimension);
  return (
    <div class="field">
      <label for={id}>
        {purpose === "extension" ? `More ${nounOf(dimension)}` : `Limit of ${labelOf(dimension).toLowerCase()}`}
        {unit !== "" && <span class="note"> in {unit}</span>}
      </label>
      <Removable dimension={dimension} onRemove={onRemove}>
        <input
          id={id}
          inputMode="decimal"
          autocomplete="off"
          value={typed}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-becomes`}
          onInput={(event) => onType(event.currentTarget.value)}
        />
      </Removable>
      <p id={`${id}-becomes`} class={problem === null ? "note" : "fault"} aria-live="polite">
        {problem ?? (purpose === "extension" ? becomes(dimension, typed, limit) : limited(dimension, typed))}
      </p>
    </div>
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
