import { hasEnded } from "bursar";
import { counted } from "../render/quantities.js";
import { clip, harmless, pad, type Style, widthOf } from "../render/style.js";
import { approvalsPanel } from "./approvals-panel.js";
import { formPanel } from "./form-panel.js";
import { helpPanel } from "./help-panel.js";
import { pagePanel } from "./page-panel.js";
import { requestAt, runAt } from "./press.js";
import { runsPanel } from "./runs-panel.js";
import { NOTHING, type Sight } from "./sight.js";
import type { State } from "./state.js";

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

/** In less than this nobody can decide anything. */
const LEAST: Size = { columns: 40, rows: 10 };
const MOST_COLUMNS = 200;
/** The rows of everything that is always there, and the one that stays free. */
const FIXED = 6;

/** What is known beside the store: where it is, and how many runs are driven here. */
export interface Backdrop {
  readonly title: string;
  readonly driving: number;
}

/** The whole screen, but for its last row: Ink clears everything, also what was before, when none is left free. */
export function frame(state: State, sight: Sight, backdrop: Backdrop, size: Size, style: Style): readonly string[] {
  const { columns, rows } = size;
  if (columns < LEAST.columns || rows < LEAST.rows) return tooSmall(size);
  const room: Size = { columns: Math.min(columns, MOST_COLUMNS), rows: rows - FIXED };
  const body = bodyOf(state, sight, room, style)
    .slice(0, room.rows)
    .map((line) => clip(line, room.columns));
  const blank = Array.from({ length: room.rows - body.length }, () => "");
  const rule = style.dim("─".repeat(columns));
  return [
    topLine(state, sight, backdrop, columns, style),
    rule,
    ...body,
    ...blank,
    rule,
    noteLine(state, sight, backdrop, columns, style),
    keyLine(state, sight, columns, style),
  ];
}

function tooSmall({ columns, rows }: Size): readonly string[] {
  const said = [`window too small: ${columns} × ${rows}`, `at least ${LEAST.columns} × ${LEAST.rows}; q quits`];
  return said.slice(0, Math.max(1, rows)).map((line) => clip(line, columns));
}

function bodyOf(state: State, sight: Sight, room: Size, style: Style): readonly string[] {
  const { mode } = state;
  if (sight === NOTHING) return ["", style.dim("  looking at the store …")];
  if (mode.kind === "help") return helpPanel(style);
  if (mode.kind === "form") {
    const known = [...sight.requests, ...(sight.page?.run.requests ?? [])];
    return formPanel(mode, known.find(({ id }) => id === mode.request) ?? null, room, style);
  }
  if (state.page !== null) return pagePanel(state, sight, room, style);
  return state.tab === "approvals" ? approvalsPanel(state, sight, room, style) : runsPanel(state, sight, room, style);
}

function topLine(state: State, sight: Sight, { title }: Backdrop, columns: number, style: Style): string {
  const waiting = sight.requests.length === 0 ? "" : ` (${sight.requests.length}${sight.more.requests ? "+" : ""})`;
  const isHere = (tab: State["tab"]) => state.page === null && state.tab === tab;
  const tab = (name: string, here: boolean) => (here ? style.bold(`[${name}]`) : ` ${name} `);
  const tabs = [tab(`1 approvals${waiting}`, isHere("approvals")), tab("2 runs", isHere("runs"))];
  if (state.page !== null) tabs.push(style.bold("[run]"));
  const left = ` ${tabs.join(" ")}`;
  const room = columns - widthOf(left) - 2;
  const right = room < 12 ? "" : style.dim(clip(harmless(title), room));
  return clip(`${pad(left, columns - widthOf(right) - 1)}${right}`, columns);
}

function noteLine({ note, mode }: State, sight: Sight, { driving }: Backdrop, columns: number, style: Style): string {
  if (mode.kind === "question")
    return clip(` ${style.warn(`${harmless(mode.text)} y yes, any other key no`)}`, columns);
  if (note !== null) return clip(` ${style[note.tone](harmless(note.text))}`, columns);
  if (sight.problem !== null)
    return clip(` ${style.bad(`the store cannot be read: ${harmless(sight.problem)}`)}`, columns);
  return driving === 0 ? "" : clip(` ${style.accent(`▶ ${counted(driving, "run")} driven from here`)}`, columns);
}

const FORM_KEYS = ["Enter decides", "↑↓ fields", "Esc leaves"];
const HELP_KEYS = ["any key leaves"];
const LAST_KEYS = ["? help", "q quit"];

function keyLine(state: State, sight: Sight, columns: number, style: Style): string {
  const words = keysOf(state, sight);
  while (words.length > 2 && widthOf(words.join("  ")) + 1 > columns) words.splice(words.length - 3, 1);
  return clip(style.dim(` ${words.join("  ")}`), columns);
}

/** The keys that do something here; the least important stand last but for help and quit. */
function keysOf(state: State, sight: Sight): string[] {
  const { mode, page, tab } = state;
  if (mode.kind === "form") return [...FORM_KEYS];
  if (mode.kind === "help") return [...HELP_KEYS];
  const decide = requestAt(state, sight) === null ? [] : ["a approve", "d deny"];
  const run = runAt(state, sight);
  const isOver = run === null || sight.runs.some(({ id, status }) => id === run && hasEnded({ status }));
  const move = isOver ? [] : ["r resume", "c cancel"];
  if (page !== null) return [...decide, "Esc back", "Tab steps/chain", "↑↓ scroll", ...move, ...LAST_KEYS];
  const isEmpty = (tab === "runs" ? sight.runs : sight.requests).length === 0;
  const choose = isEmpty ? [] : ["↑↓ choose", "Enter open"];
  return [...decide, ...choose, "Tab switch", ...move, ...LAST_KEYS];
}
