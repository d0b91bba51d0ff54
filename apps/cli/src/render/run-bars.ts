import type { Position } from "bursar/views";
import { amounts, type BarLayout, barLines } from "./bars.js";
import type { Style } from "./style.js";

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
  const isShared = positions.some(({ budget }) => budget !== "");
  const roomy = columns >= FIGURES_FROM;
  const rows = positions.map((position) => ({
    level: position,
    label: position.dimension.id,
    owner: position.budget,
    figures: roomy ? amounts(position) : "",
  }));
  const layout: BarLayout = {
    columns,
    indent: INDENT,
    labelColumns: Math.max(0, ...rows.map(({ label }) => label.length)) + GAP.length,
    ownerColumns: isShared && columns >= OWNER_FROM ? OWNER_COLUMNS : 0,
    figureColumns: roomy ? FIGURE_COLUMNS : 0,
    mostCells: MOST_CELLS,
    leastCells: LEAST_CELLS,
  };
  return barLines(rows, layout, style);
}
