import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { post } from "../../api/client.js";
import type { Me, TokenView } from "../../api/shapes.js";
import { useAct } from "../../parts/act.js";
import { expiryIn } from "../../parts/expiry.js";
import { ExpiryField } from "../../parts/expiry-field.js";
import { Problem } from "../../parts/states.js";

/** A token with its secret, as the server gives it once. */
export interface NewToken {
  readonly token: TokenView;
  readonly secret: string;
}

const ROLES: Readonly<Record<Me["role"], string>> = {
  viewer: "viewer: sees everything, changes nothing",
  agent: "agent: starts runs and asks for more",
  operator: "operator: decides, cancels, extends, makes keys",
  admin: "admin: makes access tokens too",
};

export function TokenForm({ onMade }: { readonly onMade: (made: NewToken) => void }): JSX.Element {
  const [name, setName] = useState("");
  const [role, setRole] = useState("viewer");
  const [days, setDays] = useState("90");
  const { busy, error, run } = useAct();
  const submit = (event: Event) => {
    event.preventDefault();
    void run(async () => {
      onMade(await post<NewToken>("tokens", { name: name.trim(), role, ...expiryIn(days, Date.now()) }));
      setName("");
    });
  };
  return (
    <details class="maker">
      <summary>New access token</summary>
      <form class="fields" onSubmit={submit}>
        <label class="field">
          <span>Whose</span>
          <input
            value={name}
            required
            maxLength={100}
            autocomplete="off"
            onInput={(event) => setName(event.currentTarget.value)}
          />
        </label>
        <label class="field">
          <span>Role</span>
          <select value={role} onChange={(event) => setRole(event.currentTarget.value)}>
            {Object.entries(ROLES).map(([each, meaning]) => (
              <option key={each} value={each}>
                {meaning}
              </option>
            ))}
          </select>
        </label>
        <ExpiryField value={days} onChange={setDays} />
        {error !== null && <Problem error={error} />}
        <div class="actions">
          <button type="submit" class="button button-primary" disabled={busy || name.trim() === ""}>
            Make access token
          </button>
        </div>
      </form>
    </details>
  );
}
