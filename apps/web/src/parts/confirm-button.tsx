import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "./dialog.js";

interface ConfirmButtonProps {
  readonly label: string;
  /** What it is done to, so that buttons of several rows can be told apart. */
  readonly about: string;
  readonly question: string;
  readonly disabled?: boolean;
  readonly onConfirm: () => void;
}

/** A button for what cannot be undone: it asks first. */
export function ConfirmButton({
  label,
  about,
  question,
  disabled = false,
  onConfirm,
}: ConfirmButtonProps): JSX.Element {
  const [open, setOpen] = useState(false);
  return (
    <>
      <button
        type="button"
        class="button"
        disabled={disabled}
        aria-label={`${label} ${about}`}
        onClick={() => setOpen(true)}
      >
        {label}
      </button>
      {open && (
        <Dialog title={`${label} ${about}?`} onClose={() => setOpen(false)}>
          <p>{question}</p>
          <div class="actions">
            <button
              type="button"
              class="button button-danger"
              onClick={() => {
                setOpen(false);
                onConfirm();
              }}
            >
              {label}
            </button>
            <button type="button" class="button" onClick={() => setOpen(false)}>
              Leave it
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
