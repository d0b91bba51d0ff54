import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { post } from "../api/client.js";
import { useAct } from "../parts/act.js";
import { Problem } from "../parts/states.js";
import { countInTab, nameTab } from "../parts/tab-title.js";

interface LoginProps {
  /** Whether somebody was logged in until a moment ago. */
  readonly expired: boolean;
  readonly onLogin: () => void;
}

export function Login({ expired, onLogin }: LoginProps): JSX.Element {
  const [token, setToken] = useState("");
  const { busy, error, run } = useAct();
  useEffect(() => {
    countInTab(0);
    nameTab("Log in");
  }, []);
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      await post("login", { token: token.trim() });
      onLogin();
    });
  };
  return (
    <main class="lonely">
      <form class="card login" onSubmit={submit}>
        <h1>Log in to Bursar</h1>
        {expired && <p role="status">Your login has ended. Log in again to go on where you were.</p>}
        <label class="field">
          <span>Access token</span>
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            required
            value={token}
            onInput={(event) => setToken(event.currentTarget.value)}
          />
        </label>
        <p class="note">
          Whoever runs the server makes one with <code>bursar tokens create</code>.
        </p>
        {error !== null && <Problem error={error} />}
        <button type="submit" class="button button-primary" disabled={busy}>
          {busy ? "Logging in …" : "Log in"}
        </button>
      </form>
    </main>
  );
}
