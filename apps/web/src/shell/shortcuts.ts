import { navigate } from "../router/navigation.js";
import { ALL_RUNS, addressOf } from "../router/route.js";

/** What keys do; the help shows this list. */
export const SHORTCUTS: readonly { readonly key: string; readonly does: string }[] = [
  { key: "j", does: "next run, request or link" },
  { key: "k", does: "previous one" },
  { key: "Enter", does: "open it, or press the button in focus" },
  { key: "a", does: "go to Approve of this request; Enter confirms" },
  { key: "d", does: "go to Deny of this request; Enter confirms" },
  { key: "/", does: "search runs" },
  { key: "?", does: "this help" },
  { key: "Esc", does: "close, or leave a field" },
];

const KEY = "bursar-shortcuts";
const ITEM = "[data-item]";

export function shortcutsOn(): boolean {
  try {
    return localStorage.getItem(KEY) !== "off";
  } catch {
    return true;
  }
}

export function switchShortcuts(on: boolean): void {
  try {
    localStorage.setItem(KEY, on ? "on" : "off");
  } catch {
    // Nothing is kept here; the keys stay as they are.
  }
}

/** What is selected is what has the focus, so keys, pointer and screen reader never disagree. */
export function pressed(event: KeyboardEvent, showHelp: () => void): void {
  const { target } = event;
  if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]") !== null) return;
  if (target instanceof HTMLElement && isField(target)) {
    if (event.key === "Escape") target.blur();
    return;
  }
  if (!shortcutsOn()) return;
  const act = actionFor(event.key, showHelp);
  if (act === null) return;
  event.preventDefault();
  act();
}

function actionFor(key: string, showHelp: () => void): (() => void) | null {
  switch (key) {
    case "j":
      return () => move(1);
    case "k":
      return () => move(-1);
    case "a":
      return () => focusAction("approve");
    case "d":
      return () => focusAction("deny");
    case "/":
      return search;
    case "?":
      return showHelp;
    default:
      return null;
  }
}

function isField(element: HTMLElement): boolean {
  return element.matches("input, textarea, select") || element.isContentEditable;
}

function move(by: 1 | -1): void {
  const items = [...document.querySelectorAll<HTMLElement>(ITEM)].filter((item) => item.offsetParent !== null);
  const current = document.activeElement?.closest<HTMLElement>(ITEM) ?? null;
  const at = current === null ? -1 : items.indexOf(current);
  const next = at < 0 ? (by === 1 ? 0 : items.length - 1) : Math.min(Math.max(at + by, 0), items.length - 1);
  focus(items[next]);
}

function focusAction(name: "approve" | "deny"): void {
  const within = document.activeElement?.closest(ITEM) ?? document;
  const action = `[data-action="${name}"]`;
  focus(within.querySelector<HTMLElement>(action) ?? document.querySelector<HTMLElement>(action) ?? undefined);
}

function search(): void {
  if (searchField() === null) navigate(addressOf({ kind: "runs", filter: ALL_RUNS }));
  focusSearch(MOST_FRAMES, 0);
}

const MOST_FRAMES = 300;
const CALM_FRAMES = 5;

/** A page that is just opened gives the focus to its heading, sooner or later; then the field takes it back. */
function focusSearch(frames: number, calm: number): void {
  const field = searchField();
  const isThere = field !== null && document.activeElement === field;
  if (frames === 0 || (isThere && calm === CALM_FRAMES)) return;
  field?.focus();
  requestAnimationFrame(() => focusSearch(frames - 1, isThere ? calm + 1 : 0));
}

function searchField(): HTMLElement | null {
  return document.querySelector<HTMLElement>("[data-search]");
}

function focus(element: HTMLElement | undefined): void {
  element?.focus();
  element?.scrollIntoView({ block: "nearest" });
}
