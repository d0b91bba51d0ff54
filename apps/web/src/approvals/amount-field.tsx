import type { JSX } from "preact";
import { useId } from "preact/hooks";
import { formatAmount, unitOf } from "../format/amount.js";
import { labelOf, nounOf } from "../format/dimension.js";
import { amountProblem } from "./amounts.js";

interface AmountFieldProps {
  readonly dimension: string;
  readonly typed: string;
  /** What the limit is now, if there is one to be extended. */
  readonly limit: number | null;
  /** Whether it is added to a limit, or is one. */
  readonly purpose?: "extension" | "limit";
  readonly onType: (text: string) => void;
}

/** An amount to be granted, and what the limit becomes with it. */
export function AmountField({ dimension, typed, limit, purpose = "extension", onType }: AmountFieldProps): JSX.Element {
  const id = useId();
  const problem = amountProblem(dimension, typed);
  const unit = unitOf(dimension);
  return (
    <div class="field">
      <label for={id}>
        {purpose === "extension" ? `More ${nounOf(dimension)}` : `Limit of ${labelOf(dimension).toLowerCase()}`}
        {unit !== "" && <span class="note"> in {unit}</span>}
      </label>
      <input
        id={id}
        inputMode="decimal"
        autocomplete="off"
        value={typed}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-becomes`}
        onInput={(event) => onType(event.currentTarget.value)}
      />
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
  return typed.trim() === "" ? "Not limited." : `Up to ${formatAmount(dimension, Number(typed))}.`;
}
