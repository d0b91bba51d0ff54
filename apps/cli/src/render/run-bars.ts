import type { Position } from "bursar/views";
import { bar } from "./bars.js";
import { bareFigure } from "./figures.js";
import { clip, pad, type Style } from "./style.js";

const INDENT = "  ";
const GAP = "  ";
const OWNER_COLUMNS = 9;
const FIGURE_COLUMNS = 28;
const MOST_CELLS = 32;
const LEAST_CELLS = 6;
/** Terminals narrower than these lose the owner, then the figures. */
const OWNER_FROM = 76;
const FIGURES_FROM = 60;

/** What people look at first; the rest is shown when something of it has been used. */
const ALWAYS: ReadonlySet<string> = new Set(["steps", "wall_clock_ms", "llm_tokens", "cost_usd"]);

/** The positions worth a line. */
export function worthwhile(positions: readonly Position[]): readonly Position[] {
  return positions.filter(({ dimension, used, held }) => used > 0 || held > 0 || ALWAYS.has(dimension.id));
}

/** One line for each limit of a run: its name, whose limit it is if that is said, a bar, and the figures. */
export function runBars(positions: readonly Position[], columns: number, style: Style): readonly string[] {
  const label = Math.max(0, ...positions.map(({ dimension }) => dimension.id.length)) + GAP.length;
  const isShared = positions.some(({ budget }) => budget !== "");
  const owner = isShared && columns >= OWNER_FROM ? OWNER_COLUMNS : 0;
  const roomy = columns >= FIGURES_FROM;
  const cells = Math.min(
    MOST_CELLS,
    columns - INDENT.length - label - owner - (roomy ? FIGURE_COLUMNS : 0) - GAP.length,
  );
  return positions.map((position) => {
    const { dimension, budget, used, held, limit } = position;
    const whose = owner === 0 ? "" : style.dim(pad(clip(budget, OWNER_COLUMNS - 1), owner));
    const drawn = cells < LEAST_CELLS ? "" : `${bar(position, cells, style)}${GAP}`;
    const more = held === 0 ? "" : ` + ${bareFigure(dimension, held)}`;
    const figures = `${bareFigure(dimension, used)}${more} of ${bareFigure(dimension, limit)}`;
    return clip(`${INDENT}${pad(dimension.id, label)}${whose}${drawn}${roomy ? figures : ""}`, columns);
  });
}
