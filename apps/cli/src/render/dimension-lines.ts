import type { DimensionView } from "bursar/views";
import { barLines } from "./bars.js";
import { runFigure, runShare } from "./run-figures.js";
import { fitted, harmless, type Style } from "./style.js";

const GAP = "  ";
const MOST_CELLS = 40;
const LEAST_CELLS = 6;
const LONGEST_NAME = 20;
const FIGURES = 34;

/** One line for each dimension: its name, a bar with what is used and what is held apart, and the figures. */
export function dimensionLines(views: readonly DimensionView[], columns: number, style: Style): readonly string[] {
  const names = views.map(({ dimension }) => fitted(harmless(dimension), LONGEST_NAME, columns));
  const rows = views.map((view, index) => ({ level: view, label: names[index] ?? "", figures: shareOf(view) }));
  const layout = {
    columns,
    indent: "",
    labelColumns: Math.max(0, ...names.map((name) => name.length)) + GAP.length,
    figureColumns: Math.min(FIGURES, Math.max(...rows.map(({ figures }) => figures.length), 0)),
    mostCells: MOST_CELLS,
    leastCells: LEAST_CELLS,
  };
  return barLines(rows, layout, style);
}

type Share = Pick<DimensionView, "dimension" | "used" | "held" | "limit">;

/** `1,200 + 300 of 5,000 tokens`: what is held for calls under way stands apart. */
export function shareOf({ dimension, used, held, limit }: Share): string {
  const share = runShare(dimension, used, limit);
  if (held <= 0) return share;
  const figure = runFigure(dimension, held);
  const bare = /^[\d,]+ /.test(figure) ? (figure.split(" ")[0] ?? figure) : figure;
  return share.replace(" of ", ` + ${bare} of `);
}

const ALWAYS: ReadonlySet<string> = new Set(["steps", "wall_clock_ms", "llm_tokens", "cost_usd"]);

/** What people look at first; the rest when something of it has been used. */
export function worthALine({ dimension, used, held }: DimensionView): boolean {
  return used > 0 || held > 0 || ALWAYS.has(dimension);
}
