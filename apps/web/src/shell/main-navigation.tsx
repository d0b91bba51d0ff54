import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { post } from "../api/client.js";
import { useMe } from "../api/me.js";
import { mayOperate } from "../api/shapes.js";
import { Icon } from "../parts/icon.js";
import { ThemeToggle } from "../parts/theme-toggle.js";
import { ALL_RUNS, addressOf, type Route } from "../router/route.js";

interface Place {
  readonly route: Route;
  readonly label: string;
  /** Routes that belong below it. */
  readonly kinds: readonly Route["kind"][];
  readonly needs?: "operator" | "admin";
}

const PLACES: readonly Place[] = [
  { route: { kind: "overview" }, label: "Overview", kinds: ["overview"] },
  { route: { kind: "runs", filter: ALL_RUNS }, label: "Runs", kinds: ["runs", "start", "run", "chain"] },
  { route: { kind: "approvals", status: "pending", before: "" }, label: "Approvals", kinds: ["approvals", "approval"] },
  { route: { kind: "sessions" }, label: "Sessions", kinds: ["sessions", "budget-chain"] },
  { route: { kind: "keys" }, label: "Keys", kinds: ["keys"], needs: "operator" },
  { route: { kind: "tokens" }, label: "Access tokens", kinds: ["tokens"], needs: "admin" },
  { route: { kind: "config" }, label: "Configuration", kinds: ["config"] },
  { route: { kind: "verify" }, label: "Verify", kinds: ["verify"] },
];

interface MainNavigationProps {
  readonly route: Route;
  readonly waiting: number | null;
  readonly onHelp: () => void;
  readonly onLogout: () => void;
}

export function MainNavigation({ route, waiting, onHelp, onLogout }: MainNavigationProps): JSX.Element {
  const me = useMe();
  const [open, setOpen] = useState(false);
  const address = addressOf(route);
  useEffect(() => setOpen(false), [address]);
  const places = PLACES.filter(
    ({ needs }) => needs === undefined || (needs === "admin" ? me.role === "admin" || !me.login : mayOperate(me)),
  );
  return (
    <header class="top">
      <a class="brand" href="/">
        Bursar
      </a>
      {waiting !== null && waiting > 0 && (
        <a class="waiting-link" href="/approvals">
          <Icon name="waiting" />
          {waiting >= 100 ? "100+" : waiting} waiting
        </a>
      )}
      <button
        type="button"
        class="button menu-button"
        aria-expanded={open}
        aria-controls="menu"
        onClick={() => setOpen(!open)}
      >
        <Icon name="menu" />
        Menu
      </button>
      <div id="menu" class={open ? "menu menu-open" : "menu"}>
        <nav aria-label="Main">
          <ul>
            {places.map(({ route: to, label, kinds }) => (
              <li key={label}>
                <a href={addressOf(to)} aria-current={kinds.includes(route.kind) ? "page" : undefined}>
                  {label}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        <div class="tools">
          <ThemeToggle />
          <button type="button" class="button button-quiet" onClick={onHelp}>
            Help <kbd>?</kbd>
          </button>
          {me.login && <Identity onLogout={onLogout} />}
        </div>
      </div>
    </header>
  );
}

function Identity({ onLogout }: { readonly onLogout: () => void }): JSX.Element {
  const me = useMe();
  const leave = () => {
    post("logout").then(onLogout, onLogout);
  };
  return (
    <>
      <span class="identity">
        {me.name} <span class="note">({me.role})</span>
      </span>
      <button type="button" class="button button-quiet" onClick={leave}>
        Log out
      </button>
    </>
  );
}
