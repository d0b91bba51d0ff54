import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { type ApiError, asApiError, get, onUnauthorized } from "../api/client.js";
import { feed } from "../api/feed.js";
import { MeContext } from "../api/me.js";
import type { Me } from "../api/shapes.js";
import { Loading, Problem } from "../parts/states.js";
import { Login } from "./login.js";
import { Shell } from "./shell.js";

type Entry =
  | { readonly kind: "asking" }
  | { readonly kind: "stranger"; readonly expired: boolean }
  | { readonly kind: "failed"; readonly error: ApiError }
  | { readonly kind: "known"; readonly me: Me };

/** Finds out who is looking; everything else comes after that. */
export function App(): JSX.Element {
  const [entry, setEntry] = useState<Entry>({ kind: "asking" });
  const ask = useCallback(() => {
    get<Me>("me").then(
      (me) => setEntry({ kind: "known", me }),
      (thrown) => {
        const error = asApiError(thrown);
        setEntry(error.status === 401 ? { kind: "stranger", expired: false } : { kind: "failed", error });
      },
    );
  }, []);
  useEffect(ask, [ask]);
  useEffect(
    () =>
      onUnauthorized(() =>
        setEntry((before) => (before.kind === "known" ? { kind: "stranger", expired: true } : before)),
      ),
    [],
  );
  const known = entry.kind === "known";
  useEffect(() => (known ? feed.start() : undefined), [known]);
  switch (entry.kind) {
    case "asking":
      return (
        <main class="lonely">
          <Loading what="Bursar" />
        </main>
      );
    case "failed":
      return (
        <main class="lonely">
          <h1>Bursar</h1>
          <Problem error={entry.error} retry={ask} />
        </main>
      );
    case "stranger":
      return <Login expired={entry.expired} onLogin={ask} />;
    case "known":
      return (
        <MeContext.Provider value={entry.me}>
          <Shell onLogout={() => setEntry({ kind: "stranger", expired: false })} />
        </MeContext.Provider>
      );
  }
}
