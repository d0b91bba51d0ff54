import { hasEnded } from "bursar";
import { Box, Text } from "ink";
import type { ReactElement } from "react";
import { counted } from "../render/quantities.js";
import { harmless, type Style } from "../render/style.js";
import { ApprovalsPanel } from "./approvals-panel.js";
import { FormPanel } from "./form-panel.js";
import { HelpPanel } from "./help-panel.js";
import { Line, Lines, Rule, StyleContext, useStyle } from "./line.js";
import { PagePanel } from "./page-panel.js";
import { requestAt, runAt } from "./press.js";
import { RunsPanel } from "./runs-panel.js";
import { NOTHING, type Sight } from "./sight.js";
import type { Size, State } from "./state.js";

/** In less than this nobody can decide anything. */
const LEAST: Size = { columns: 40, rows: 10 };
const MOST_COLUMNS = 200;
/** The rows of everything that is always there, and the one that stays free. */
const FIXED = 6;
/** In less than this a title says nothing. */
const LEAST_TITLE = 12;

export interface ScreenProps {
  readonly state: State;
  readonly sight: Sight;
  /** Where the store is. */
  readonly title: string;
  /** How many runs are driven here. */
  readonly driving: number;
  readonly size: Size;
  readonly style: Style;
}

/** The whole window but for its last row: Ink clears everything, also what was before, when none is left free. */
export function Screen({ state, sight, title, driving, size, style }: ScreenProps): ReactElement {
  const { columns, rows } = size;
  if (columns < LEAST.columns || rows < LEAST.rows) return <TooSmall size={size} />;
  const room: Size = { columns: Math.min(columns, MOST_COLUMNS), rows: rows - FIXED };
  return (
    <StyleContext.Provider value={style}>
      <Box flexDirection="column" width={columns} height={rows - 1}>
        <TopLine state={state} sight={sight} title={title} columns={columns} />
        <Rule columns={columns} />
        <Box flexDirection="column" width={room.columns} height={room.rows} overflow="hidden">
          <Body state={state} sight={sight} room={room} />
        </Box>
        <Rule columns={columns} />
        <NoteLine state={state} sight={sight} driving={driving} />
        <KeyLine state={state} sight={sight} columns={columns} />
      </Box>
    </StyleContext.Provider>
  );
}

function TooSmall({ size: { columns, rows } }: { readonly size: Size }): ReactElement {
  const said = [`window too small: ${columns} × ${rows}`, `at least ${LEAST.columns} × ${LEAST.rows}; q quits`];
  return (
    <Box flexDirection="column" width={columns}>
      <Lines texts={said.slice(0, Math.max(1, rows))} />
    </Box>
  );
}

interface BodyProps {
  readonly state: State;
  readonly sight: Sight;
  readonly room: Size;
}

function Body({ state, sight, room }: BodyProps): ReactElement {
  const style = useStyle();
  const { mode } = state;
  if (sight === NOTHING) return <Lines indent={2} texts={["", style.dim("looking at the store …")]} />;
  if (mode.kind === "help") return <HelpPanel />;
  if (mode.kind === "form") {
    const known = [...sight.requests, ...(sight.page?.run.requests ?? [])];
    return <FormPanel form={mode} request={known.find(({ id }) => id === mode.request) ?? null} room={room} />;
  }
  if (state.page !== null) return <PagePanel page={state.page} sight={sight} room={room} />;
  const Panel = state.tab === "approvals" ? ApprovalsPanel : RunsPanel;
  return <Panel state={state} sight={sight} room={room} />;
}

interface TopLineProps {
  readonly state: State;
  readonly sight: Sight;
  readonly title: string;
  readonly columns: number;
}

/** The lists that there are, with the one that is shown, and where the store is. */
function TopLine({ state, sight, title, columns }: TopLineProps): ReactElement {
  const style = useStyle();
  const waiting = sight.requests.length === 0 ? "" : ` (${sight.requests.length}${sight.more.requests ? "+" : ""})`;
  const isHere = (tab: State["tab"]) => state.page === null && state.tab === tab;
  const tabs = [
    { name: `1 approvals${waiting}`, isShown: isHere("approvals") },
    { name: "2 runs", isShown: isHere("runs") },
    ...(state.page === null ? [] : [{ name: "run", isShown: true }]),
  ];
  const left = tabs.reduce((sum, { name }) => sum + name.length + 3, 0);
  return (
    <Box height={1} flexShrink={0} width={columns} paddingX={1} columnGap={1} justifyContent="space-between">
      <Box flexShrink={0}>
        <Text>{tabs.map(({ name, isShown }) => (isShown ? style.bold(`[${name}]`) : ` ${name} `)).join(" ")}</Text>
      </Box>
      {columns - left >= LEAST_TITLE && <Text wrap="truncate-end">{style.dim(harmless(title))}</Text>}
    </Box>
  );
}

interface NoteLineProps {
  readonly state: State;
  readonly sight: Sight;
  readonly driving: number;
}

/** A question, what came of the last key, what is wrong, or what is driven here: the first of these that there is. */
function NoteLine({ state: { note, mode }, sight, driving }: NoteLineProps): ReactElement {
  const style = useStyle();
  const texts = [
    mode.kind === "question" ? style.warn(`${harmless(mode.text)} y yes, any other key no`) : null,
    note === null ? null : style[note.tone](harmless(note.text)),
    sight.problem === null ? null : style.bad(`the store cannot be read: ${harmless(sight.problem)}`),
    driving === 0 ? null : style.accent(`▶ ${counted(driving, "run")} driven from here`),
  ];
  return <Line indent={1} text={texts.find((text) => text !== null) ?? ""} />;
}

const FORM_KEYS = ["Enter decides", "↑↓ fields", "Esc leaves"];
const HELP_KEYS = ["any key leaves"];
const LAST_KEYS = ["? help", "q quit"];

interface KeyLineProps {
  readonly state: State;
  readonly sight: Sight;
  readonly columns: number;
}

/** The keys, without the least important of them where the window is narrow. */
function KeyLine({ state, sight, columns }: KeyLineProps): ReactElement {
  const style = useStyle();
  const words = keysOf(state, sight);
  while (words.length > 2 && words.join("  ").length + 1 > columns) words.splice(words.length - 3, 1);
  return <Line indent={1} text={style.dim(words.join("  "))} />;
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
