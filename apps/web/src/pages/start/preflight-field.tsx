import type { PreflightPolicy } from "bursar";
import type { JSX } from "preact";

/** From lenient to strict. */
const WORDS: Readonly<Record<PreflightPolicy, string>> = {
  warn: "Begin it, and only warn",
  ask: "Ask a person before it begins",
  refuse: "Do not begin it",
};

function isPreflight(word: string): word is PreflightPolicy {
  return Object.hasOwn(WORDS, word);
}

interface PreflightFieldProps {
  /** Null for what the server does by itself. */
  readonly preflight: PreflightPolicy | null;
  readonly onChoose: (preflight: PreflightPolicy | null) => void;
}

/** What becomes of a run that is expected to take more than it may. */
export function PreflightField({ preflight, onChoose }: PreflightFieldProps): JSX.Element {
  return (
    <div class="field">
      <label for="preflight">When it is expected not to fit</label>
      <select
        id="preflight"
        value={preflight ?? ""}
        aria-describedby="preflight-note"
        onChange={({ currentTarget: { value } }) => onChoose(isPreflight(value) ? value : null)}
      >
        <option value="">As the server has it</option>
        {Object.entries(WORDS).map(([each, words]) => (
          <option key={each} value={each}>
            {words}
          </option>
        ))}
      </select>
      <p id="preflight-note" class="note">
        Before it begins, what 95 of 100 such runs take is held against the limits.
      </p>
    </div>
  );
}
