import type { ApprovalView, Page } from "bursar/views";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useResource } from "../api/resource.js";
import { Announcer, announce } from "../parts/announcer.js";
import { Guarded } from "../parts/guarded.js";
import { countInTab } from "../parts/tab-title.js";
import { followLinks, useRoute } from "../router/navigation.js";
import { addressOf } from "../router/route.js";
import { Banner } from "./banner.js";
import { Help } from "./keyboard-help.js";
import { MainNavigation } from "./main-navigation.js";
import { PageOf } from "./page-of.js";
import { pressed } from "./shortcuts.js";

/** What is around every page. */
export function Shell({ onLogout }: { readonly onLogout: () => void }): JSX.Element {
  const route = useRoute();
  const [help, setHelp] = useState(false);
  const waiting = useWaiting();
  useEffect(() => {
    const press = (event: KeyboardEvent) => pressed(event, () => setHelp(true));
    document.addEventListener("keydown", press);
    document.addEventListener("click", followLinks);
    return () => {
      document.removeEventListener("keydown", press);
      document.removeEventListener("click", followLinks);
    };
  }, []);
  const [path = ""] = addressOf(route).split("?");
  // What follows the path says what a page shows; only the form for a new run is another page.
  const place = `${route.kind} ${path}`;
  useFocusOnMove(place);
  return (
    <>
      <a class="skip" href="#main">
        Skip to content
      </a>
      <MainNavigation route={route} waiting={waiting} onHelp={() => setHelp(true)} onLogout={onLogout} />
      <Banner />
      <main id="main" tabIndex={-1}>
        <Guarded key={place}>
          <PageOf route={route} />
        </Guarded>
      </main>
      <Announcer />
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

/** How many requests wait; a new one is read out, wherever the reader is. */
function useWaiting(): number | null {
  const { value } = useResource<Page<ApprovalView>>("approvals?status=pending&limit=100");
  const known = useRef<ReadonlySet<string> | null>(null);
  useEffect(() => {
    if (value === null) return;
    countInTab(value.items.length);
    const fresh = value.items.filter(({ id }) => known.current !== null && !known.current.has(id));
    known.current = new Set(value.items.map(({ id }) => id));
    const [first] = fresh;
    if (first === undefined) return;
    const who = first.program ?? first.run ?? "a budget";
    announce(
      fresh.length === 1 ? `New request: ${who} waits for approval` : `${fresh.length} new requests wait for approval`,
    );
  }, [value]);
  return value === null ? null : value.items.length;
}

/** After a move within the page the focus goes to its heading, as it would after loading one. */
function useFocusOnMove(place: string): void {
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) document.getElementById("title")?.focus({ preventScroll: true });
    first.current = false;
  }, [place]);
}
