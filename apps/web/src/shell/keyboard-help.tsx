import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { Dialog } from "../parts/dialog.js";
import { SHORTCUTS, shortcutsOn, switchShortcuts } from "./shortcuts.js";

export function Help({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const [on, setOn] = useState(shortcutsOn);
  const change = (next: boolean) => {
    switchShortcuts(next);
    setOn(next);
  };
  return (
    <Dialog title="Keyboard" onClose={onClose}>
      <dl class="shortcuts">
        {SHORTCUTS.map(({ key, does }) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input type="checkbox" checked={on} onChange={(event) => change(event.currentTarget.checked)} />
        Single keys work
      </label>
      <div class="actions">
        <button type="button" class="button" onClick={onClose}>
          Close
        </button>
      </div>
    </Dialog>
  );
}
