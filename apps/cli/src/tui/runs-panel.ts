import type { RunRow } from "bursar/views";
import { bar } from "../render/bars.js";
import { shareOf } from "../render/dimension-lines.js";
import { statusText } from "../render/run.js";
import { costText, shortSpan } from "../render/run-table.js";
import { clip, harmless, pad, type Style } from "../render/style.js";
import { chosenId } from "./press.js";
import { shownPart } from "./scroll.js";
import type { Sight } from "./sight.js";
import type { State } from "./state.js";

const STATUS = 12;
/** One word is longer than all others, and rare. */
const LONGEST_STATUS = 14;
const AGE = 5;
const COST = 9;
const BAR = 12;
const LONGEST_ID = 26;
/** Windows narrower than these lose the figures, then the bars. */
const FIGURES_FROM = 100;
const BARS_FROM = 64;

/** The latest runs, each with the limit that is nearest. */
export function runsPanel(
  state: State,
  sight: Sight,
  { columns, rows }: { readonly columns: number; readonly rows: number },
  style: Style,
): readonly string[] {
  const { runs, now, more } = sight;
  if (runs.length === 0) return ["", style.dim("  no runs yet; `bursar run` starts one")];
  const id = chosenId(state, "runs", sight);
  const at = runs.findIndex((run) => run.id === id);
  const cost = Math.max(COST, ...runs.map((run) => costText(run).length + 1));
  const status = runs.some(({ interrupted }) => interrupted) ? LONGEST_STATUS : STATUS;
  const longest = Math.min(LONGEST_ID, Math.max(...runs.map((run) => run.id.length)));
  const { items, from } = shownPart(runs, at, Math.max(1, rows - 1));
  const lines = items.map((run, index) => {
    const text = rowText(run, now, { columns: columns - 2, id: longest, cost, status }, style);
    return from + index === at ? `${style.accent("❯")} ${text}` : `  ${text}`;
  });
  const last = from + items.length;
  const place = `${from + 1} to ${last} of ${runs.length}${more.runs ? "; there are more, see `bursar runs`" : ""}`;
  return [...lines, ...(items.length < runs.length || more.runs ? [style.dim(`  ${place}`)] : [])];
}

interface Columns {
  readonly columns: number;
  readonly id: number;
  readonly cost: number;
  readonly status: number;
}

function rowText(run: RunRow, now: number, { columns, id, cost: room, status: word }: Columns, style: Style): string {
  const status = pad(statusText(run.denied === null ? run.status : "denied", style, run.interrupted), word);
  const age = style.dim(pad(shortSpan(Math.max(0, now - run.created)), AGE));
  const cost = pad(costText(run), room);
  const name = pad(clip(harmless(run.id), id), id + 1);
  return clip(`${status}${name}${age}${cost}${limitText(run, columns, style)}${harmless(run.program.name)}`, columns);
}

function limitText({ tightest }: RunRow, columns: number, style: Style): string {
  if (columns < BARS_FROM) return "";
  if (tightest === null) return " ".repeat(BAR + 1);
  const figures = columns < FIGURES_FROM ? "" : pad(clip(shareOf(tightest), 31), 32);
  return `${bar(tightest, BAR, style)} ${figures}`;
}
