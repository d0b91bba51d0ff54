import { hasEnded } from "bursar";
import type { ApprovalView } from "bursar/views";
import { styleFor } from "../render/style.js";
import { approving, denying, typed, wishOf } from "./form.js";
import type { Press } from "./key.js";
import type { Sight } from "./sight.js";
import type { Form, Note, Part, State, Tab, Wish } from "./state.js";
import { stepLines } from "./step-lines.js";

/** What came of a key: where one is now, and what is to be done. */
interface Pressed {
  readonly state: State;
  readonly wish: Wish | null;
}

const PAGE = 10;
const BROWSE = { kind: "browse" } as const;

/** What a key does, wherever one is. */
export function press(before: State, key: Press, sight: Sight): Pressed {
  if (key.name === "interrupt") return wanted(before, { kind: "interrupt" });
  if (key.name === "repaint") return wanted(before, { kind: "repaint" });
  const state: State = { ...before, note: null };
  const { mode } = state;
  switch (mode.kind) {
    case "help":
      return stay({ ...state, mode: BROWSE });
    case "question":
      return answered(state, key, mode.wish);
    case "form":
      return filled(state, key, mode);
    default:
      return browsed(state, key, sight);
  }
}

function stay(state: State): Pressed {
  return { state, wish: null };
}

function wanted(state: State, wish: Wish): Pressed {
  return { state, wish };
}

function noted(state: State, text: string, tone: Note["tone"] = "warn"): Pressed {
  return stay({ ...state, note: { text, tone } });
}

function answered(state: State, key: Press, wish: Wish): Pressed {
  const browsing: State = { ...state, mode: BROWSE };
  return key.name === "text" && /^y$/i.test(key.text) ? wanted(browsing, wish) : stay(browsing);
}

function filled(state: State, key: Press, form: Form): Pressed {
  if (key.name === "escape") return stay({ ...state, mode: BROWSE });
  if (key.name !== "enter") return stay({ ...state, mode: typed(form, key) });
  const wish = wishOf(form);
  // The form stays until the answer is in the store: what cannot be granted can then be mended.
  return typeof wish === "string" ? noted(state, wish) : wanted(state, wish);
}

function browsed(state: State, key: Press, sight: Sight): Pressed {
  switch (key.name) {
    case "up":
      return stay(moved(state, -1, sight));
    case "down":
      return stay(moved(state, 1, sight));
    case "page-up":
      return stay(moved(state, -PAGE, sight));
    case "page-down":
      return stay(moved(state, PAGE, sight));
    case "home":
      return stay(moved(state, Number.NEGATIVE_INFINITY, sight));
    case "end":
      return stay(moved(state, Number.POSITIVE_INFINITY, sight));
    case "tab":
    case "back-tab":
      return stay(turned(state));
    case "enter":
    case "right":
      return opened(state, sight);
    case "escape":
    case "left":
    case "backspace":
      return stay({ ...state, page: null });
    case "text":
      return lettered(state, key.text, sight);
    default:
      return stay(state);
  }
}

/** On a page, tab goes from its steps to its chain; elsewhere from list to list. */
function turned(state: State): State {
  const { page, tab } = state;
  if (page !== null) return { ...state, page: { ...page, part: page.part === "steps" ? "chain" : "steps", back: 0 } };
  return { ...state, tab: tab === "approvals" ? "runs" : "approvals" };
}

function moved(state: State, by: number, sight: Sight): State {
  const { page, tab } = state;
  if (page !== null) {
    const most = linesOf(page.part, sight);
    return { ...state, page: { ...page, back: Math.min(most, Math.max(0, page.back - by)) } };
  }
  const ids = idsOf(tab, sight);
  const at = Math.max(0, ids.indexOf(chosenId(state, tab, sight) ?? ""));
  const next = ids[Math.min(ids.length - 1, Math.max(0, at + by))] ?? null;
  return { ...state, chosen: { ...state.chosen, [tab]: next } };
}

/** Lines are cut and not wrapped, so there are as many in every window. */
const COLUMNS = 80;
const PLAIN = styleFor(false);

/** How far one can go back: to the first line that is known. */
function linesOf(part: Part, { page }: Sight): number {
  if (page === null) return 0;
  return Math.max(0, (part === "steps" ? stepLines(page, COLUMNS, PLAIN).length : page.links.length) - 1);
}

function idsOf(tab: Tab, { requests, runs }: Sight): readonly string[] {
  return (tab === "approvals" ? requests : runs).map(({ id }) => id);
}

/** What is chosen in a list: what was, as long as it is there, else the first. */
export function chosenId({ chosen }: Pick<State, "chosen">, tab: Tab, sight: Sight): string | null {
  const ids = idsOf(tab, sight);
  const id = chosen[tab];
  return id !== null && ids.includes(id) ? id : (ids[0] ?? null);
}

function opened(state: State, sight: Sight): Pressed {
  if (state.page !== null) return stay(state);
  const id = chosenId(state, state.tab, sight);
  const run = state.tab === "runs" ? id : (sight.requests.find((request) => request.id === id)?.run ?? null);
  if (run === null) return id === null ? stay(state) : noted(state, "no run stands still for this one");
  return stay({ ...state, page: { run, part: "steps", back: 0 } });
}

/** What a letter is about: the request that is chosen, or the first that the page's run waits for. */
export function requestAt(state: State, sight: Sight): ApprovalView | null {
  if (state.page !== null) {
    const page = sight.page?.run.id === state.page.run ? sight.page : null;
    return page?.run.requests.find(({ status }) => status === "pending") ?? null;
  }
  if (state.tab !== "approvals") return null;
  const id = chosenId(state, "approvals", sight);
  return sight.requests.find((request) => request.id === id) ?? null;
}

/** The run that is chosen, or that stands still for what is. */
export function runAt({ page, tab, chosen }: State, sight: Sight): string | null {
  if (page !== null) return page.run;
  if (tab === "runs") return chosenId({ chosen }, "runs", sight);
  const id = chosenId({ chosen }, "approvals", sight);
  return sight.requests.find((request) => request.id === id)?.run ?? null;
}

function lettered(state: State, text: string, sight: Sight): Pressed {
  switch (text) {
    case "q":
      return wanted(state, { kind: "quit", anyway: false });
    case "?":
    case "h":
      return stay({ ...state, mode: { kind: "help" } });
    case "1":
      return stay({ ...state, page: null, tab: "approvals" });
    case "2":
      return stay({ ...state, page: null, tab: "runs" });
    case "k":
      return stay(moved(state, -1, sight));
    case "j":
      return stay(moved(state, 1, sight));
    case "a":
    case "e":
    case "d":
      return deciding(state, text === "d", sight);
    case "r":
    case "c":
      return aboutRun(state, text, sight);
    default:
      return stay(state);
  }
}

function deciding(state: State, isDenial: boolean, sight: Sight): Pressed {
  const request = requestAt(state, sight);
  if (request === null) return noted(state, "nothing waits for an approval here");
  if (request.expires <= sight.now) return noted(state, "it has expired; r lets the run go on, and it asks anew");
  return stay({ ...state, mode: isDenial ? denying(request) : approving(request) });
}

function aboutRun(state: State, letter: "r" | "c", sight: Sight): Pressed {
  const run = runAt(state, sight);
  if (run === null) return noted(state, "no run is chosen");
  const row = sight.page?.run.id === run ? sight.page.run : sight.runs.find(({ id }) => id === run);
  if (row !== undefined && hasEnded(row)) return noted(state, `it is ${row.status} already`);
  if (letter === "r") return wanted(state, { kind: "resume", run });
  const text = `cancel run ${run}?`;
  return stay({ ...state, mode: { kind: "question", text, wish: { kind: "cancel", run } } });
}

/** A form whose request somebody else has answered is closed, and whoever was filling it in is told. */
export function caughtUp(state: State, sight: Sight): State {
  const { mode } = state;
  if (mode.kind !== "form" || sight.problem !== null) return state;
  const waiting = [...sight.requests, ...(sight.page?.run.requests ?? [])];
  if (waiting.some(({ id, status }) => id === mode.request && status === "pending") || sight.more.requests)
    return state;
  const text = "somebody else has answered this request meanwhile, or its run has ended";
  return { ...state, mode: BROWSE, note: { text, tone: "warn" } };
}
