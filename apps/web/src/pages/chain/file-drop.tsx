import type { JSX } from "preact";
import { useState } from "preact/hooks";

/** A place for a file: to be dropped, or chosen. */
export function FileDrop({ onFile }: { readonly onFile: (file: File) => void }): JSX.Element {
  const [over, setOver] = useState(false);
  const take = (file: File | null | undefined) => {
    if (file) onFile(file);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the field inside does the same by keyboard
    <div
      class={over ? "drop drop-over" : "drop"}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer?.files[0]);
      }}
    >
      <label class="field">
        <span>Verify an exported chain: choose or drop a .jsonl file</span>
        <input
          type="file"
          accept=".jsonl,.ndjson,application/jsonl"
          onChange={(event) => take(event.currentTarget.files?.[0])}
        />
      </label>
      <p class="note">It is read in this browser and sent nowhere.</p>
    </div>
  );
}
