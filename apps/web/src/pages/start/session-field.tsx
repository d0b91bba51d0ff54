import type { SessionView } from "bursar/views";
import type { JSX } from "preact";
import { useResource } from "../../api/resource.js";

interface Sessions {
  readonly budgets: readonly SessionView[];
}

interface SessionFieldProps {
  readonly session: string;
  readonly onType: (session: string) => void;
}

/** Which budget the run shares with others, if any; those there are can be chosen. What a name may be, the server says. */
export function SessionField({ session, onType }: SessionFieldProps): JSX.Element {
  const { value } = useResource<Sessions>("sessions", () => false);
  return (
    <div class="field">
      <label for="session">
        Session <span class="note">(optional)</span>
      </label>
      <input
        id="session"
        list="sessions"
        autocomplete="off"
        spellcheck={false}
        maxLength={100}
        value={session}
        aria-describedby="session-note"
        onInput={(event) => onType(event.currentTarget.value)}
      />
      <datalist id="sessions">
        {value?.budgets.map((each) => (
          <option key={each.session} value={each.session} />
        ))}
      </datalist>
      <p id="session-note" class="note">
        Runs of a session share its budget, beside limits of their own. It has to be open, or named in the
        configuration.
      </p>
    </div>
  );
}
