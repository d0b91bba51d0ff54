import type { JSX } from "preact";
import type { TypedInput } from "./json-input.js";

interface InputFieldProps {
  readonly text: string;
  readonly read: TypedInput;
  /** Whether it is time to say what is wrong: nobody is done while he types. */
  readonly isChecked: boolean;
  readonly onType: (text: string) => void;
  readonly onLeave: () => void;
}

/** What the program is given, as JSON. */
export function InputField({ text, read, isChecked, onType, onLeave }: InputFieldProps): JSX.Element {
  const fault = isChecked && read.kind === "fault" ? read.message : null;
  return (
    <div class="field">
      <label for="input">
        Input <span class="note">as JSON</span>
      </label>
      <textarea
        id="input"
        class="code"
        rows={6}
        spellcheck={false}
        autocomplete="off"
        value={text}
        aria-invalid={fault !== null}
        aria-describedby="input-note"
        onInput={(event) => onType(event.currentTarget.value)}
        onBlur={onLeave}
      />
      <p id="input-note" class={fault === null ? "note" : "fault"} aria-live="polite">
        {fault ?? (
          <>
            Such as <code>{'{"topic": "rivers"}'}</code>; empty means <code>null</code>.
          </>
        )}
      </p>
    </div>
  );
}
