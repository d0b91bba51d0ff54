import { useEffect, useState } from "preact/hooks";
import { type Route, routeOf } from "./route.js";

const listeners = new Set<() => void>();

function here(): Route {
  return routeOf(location.pathname, location.search);
}

/** Goes to an address of the page without loading it anew. */
export function navigate(address: string, how: "push" | "replace" = "push"): void {
  if (how === "push") history.pushState(null, "", address);
  else history.replaceState(null, "", address);
  for (const listener of listeners) listener();
}

/** Where the reader is. */
export function useRoute(): Route {
  const [route, setRoute] = useState(here);
  useEffect(() => {
    const update = () => setRoute(here());
    listeners.add(update);
    addEventListener("popstate", update);
    return () => {
      listeners.delete(update);
      removeEventListener("popstate", update);
    };
  }, []);
  return route;
}

/** Lets plain links stay plain: a click that a browser would follow within the page is followed here. */
export function followLinks(event: MouseEvent): void {
  if (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  ) {
    return;
  }
  const link = event.target instanceof Element ? event.target.closest("a") : null;
  if (link === null || link.target !== "" || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (link.getAttribute("href")?.startsWith("#") !== false || link.pathname.startsWith("/api/")) return;
  event.preventDefault();
  navigate(link.pathname + link.search);
  scrollTo(0, 0);
}
