import type { JSX } from "preact";
import { Copyable } from "./copy.js";
import { Dialog } from "./dialog.js";

interface SecretProps {
  readonly title: string;
  readonly secret: string;
  readonly onClose: () => void;
}

/** A secret that is shown this once: nobody keeps it, the server has its hash alone. */
export function Secret({ title, secret, onClose }: SecretProps): JSX.Element {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>
        <strong>Copy it now.</strong> It is shown this once and kept nowhere.
      </p>
      <p class="secret">
        <Copyable text={secret} what="Secret" />
      </p>
      <div class="actions">
        <button type="button" class="button button-primary" onClick={onClose}>
          I have it
        </button>
      </div>
    </Dialog>
  );
}
