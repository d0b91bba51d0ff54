import type { ComponentChildren, JSX } from "preact";
import { labelOf } from "../format/dimension.js";

interface RemovableProps {
  readonly dimension: string;
  /** Null for a limit that is always there, and can only be left empty. */
  readonly onRemove: (() => void) | null;
  readonly children: ComponentChildren;
}

/** The field of a limit, with a way to take the limit back that somebody has added. */
export function Removable({ dimension, onRemove, children }: RemovableProps): JSX.Element {
  return (
    <div class="removable">
      {children}
      {onRemove !== null && (
        <button
          type="button"
          class="button"
          aria-label={`Remove the limit of ${labelOf(dimension).toLowerCase()}`}
          onClick={onRemove}
        >
          Remove
        </button>
      )}
    </div>
  );
}
