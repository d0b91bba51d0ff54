import type { ComponentChildren, JSX } from "preact";
import { useId } from "preact/hooks";
import { unitOf } from "../format/amount.js";
import { Removable } from "./removable.js";

interface AmountInputProps {
  readonly dimension: string;
  readonly label: string;
  readonly typed: string;
  /** What holds while nothing is typed; empty for nothing. */
  readonly placeholder?: string;
  /** What is wrong with what is typed; null for nothing. */
  readonly problem: string | null;
  /** What it comes to, where nothing is wrong. */
  readonly note: string;
  readonly onType: (text: string) => void;
  /** Takes the whole field back; null for one that stays. */
  readonly onRemove: (() => void) | null;
  /** What belongs to the amount, below it. */
  readonly children?: ComponentChildren;
}

/** A field in which an amount is typed, with its unit, and below it what that means or what is wrong with it. */
export function AmountInput(props: AmountInputProps): JSX.Element {
  const { dimension, label, typed, placeholder = "", problem, note, onType, onRemove, children } = props;
  const id = useId();
  const unit = unitOf(dimension);
  return (
    <div class="field">
      <label for={id}>
        {label}
        {unit !== "" && unit !== dimension && <span class="note"> in {unit}</span>}
      </label>
      <Removable dimension={dimension} onRemove={onRemove}>
        <input
          id={id}
          inputMode="decimal"
          autocomplete="off"
          placeholder={placeholder}
          value={typed}
          aria-invalid={problem !== null}
          aria-describedby={`${id}-note`}
          onInput={(event) => onType(event.currentTarget.value)}
        />
      </Removable>
      <p id={`${id}-note`} class={problem === null ? "note" : "fault"} aria-live="polite">
        {problem ?? note}
      </p>
      {children}
    </div>
  );
}
