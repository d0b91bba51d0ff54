import type { DimensionView } from "bursar/views";
import { bar } from "./bars.js";
import { runFigure, runShare } from "./run-figures.js";
import { clip, fitted, harmless, pad, type Style } from "./style.js";

const GAP = "  ";
const MOST_CELLS = 40;
const LEAST_CELLS = 6;
const LONGEST_NAME = 20;
const FIGURES = 34;

/** One line for each dimension: its name, a bar with what is used and what is held apart, and the figures. */
export function dimensionLines(views: readonly DimensionView[], columns: number, style: Style): readonly string[] {
  const names = views.map(({ dimension }) => fitted(harmless(dimension), LONGEST_NAME, columns));
  const label = Math.max(0, ...names.map((name) => name.length)) + GAP.length;
  const room = columns - label - GAP.length;
  const figures = Math.min(FIGURES, Math.max(...views.map((view) => shareOf(view).length), 0));
  const cells = Math.min(MOST_CELLS, room - figures);
  return views.map((view, index) => {
    const drawn = cells < LEAST_CELLS ? "" : `${bar(view, cells, style)}${GAP}`;
    return clip(`${pad(names[index] ?? "", label)}${drawn}${shareOf(view)}`, columns);
  });
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
