import type { Position } from "bursar/views";
import { bareFigure } from "./figures.js";
import { clip, pad, type Style } from "./style.js";

const USED = "█";
const HELD = "▒";
const FREE = "░";
const MARK = "│";

/** Below this many cells a mark would hide more than it shows. */
const LEAST_FOR_MARKS = 8;
const MOST_CELLS = 40;
const INDENT = "  ";
const GAP = "  ";
const LABEL_COLUMNS = 14;
const OWNER_COLUMNS = 9;
const FIGURE_COLUMNS = 27;
const PERCENT_COLUMNS = 10;
/** Terminals narrower than these lose the owner, then the figures. */
const OWNER_FROM = 72;
const FIGURES_FROM = 56;

/** What a bar needs to know; in whichever unit. */
type Level = Pick<Position, "used" | "held" | "limit" | "thresholds">;

/** A bar of so many cells: what is spent, what is held for calls in flight, what is free, and where it warns. */
export function bar({ used, held, limit, thresholds }: Level, cells: number, style: Style): string {
  const spentTo = cellsOf(used, limit, cells);
  const heldTo = Math.max(spentTo, cellsOf(used + held, limit, cells));
  const tone = toneOf(used, limit, thresholds);
  const marks = cells < LEAST_FOR_MARKS ? [] : thresholds.map((percent) => Math.floor((cells * percent) / 100));
  let text = "";
  for (let cell = 0; cell < cells; cell++) {
    const marked = marks.includes(cell);
    if (cell < spentTo) text += marked ? style.marked(MARK, tone) : style[tone](USED);
    else if (cell < heldTo) text += marked ? style.bold(MARK) : style[tone](HELD);
    else text += marked ? style.bold(MARK) : style.dim(FREE);
  }
  return text;
}

/** One row of bars. */
export interface BarRow {
  readonly level: Level;
  readonly label: string;
  /** Whose limit it is; left out where `ownerColumns` is 0. */
  readonly owner?: string;
  readonly figures: string;
}

export interface BarLayout {
  readonly columns: number;
  readonly indent: string;
  readonly labelColumns: number;
  readonly ownerColumns?: number;
  /** The room behind a bar. It does not depend on the figures where a bar has to keep its length while they change. */
  readonly figureColumns: number;
  readonly mostCells: number;
  /** With less room than this, there is no bar. */
  readonly leastCells: number;
}

/** One line for each row: its label, its owner, a bar as wide as there is room, and its figures. */
export function barLines(rows: readonly BarRow[], layout: BarLayout, style: Style): readonly string[] {
  const { columns, indent, labelColumns, ownerColumns = 0, figureColumns, mostCells, leastCells } = layout;
  const room = columns - indent.length - labelColumns - ownerColumns - figureColumns - GAP.length;
  const cells = Math.min(mostCells, room);
  return rows.map(({ level, label, owner = "", figures }) => {
    const whose = ownerColumns === 0 ? "" : style.dim(pad(clip(owner, ownerColumns - 1), ownerColumns));
    const drawn = cells < leastCells ? "" : `${bar(level, cells, style)}${GAP}`;
    return clip(`${indent}${pad(label, labelColumns)}${whose}${drawn}${figures}`, columns);
  });
}

/** The limits of the demonstration. */
export function renderBars(positions: readonly Position[], columns: number, style: Style): readonly string[] {
  const roomy = columns >= FIGURES_FROM;
  const rows = positions.map((position) => ({
    level: position,
    label: position.dimension.id,
    owner: position.budget.split(":")[0] ?? "",
    figures: roomy ? amounts(position) : percent(position),
  }));
  const layout: BarLayout = {
    columns,
    indent: INDENT,
    labelColumns: LABEL_COLUMNS,
    ownerColumns: columns >= OWNER_FROM ? OWNER_COLUMNS : 0,
    figureColumns: roomy ? FIGURE_COLUMNS : PERCENT_COLUMNS,
    mostCells: MOST_CELLS,
    leastCells: 4,
  };
  return barLines(rows, layout, style);
}

/** What the parts of a bar mean. */
export function legend(positions: readonly Position[], style: Style): string {
  const percents = positions[0]?.thresholds.map((percent) => `${percent} %`).join(", ") ?? "";
  return `${USED} spent  ${HELD} held  ${style.dim(FREE)} free  ${style.bold(MARK)} warns at ${percents}`;
}

/** A bar is full only when nothing is left, and empty only when nothing was taken. */
function cellsOf(amount: number, limit: number, cells: number): number {
  if (amount <= 0) return 0;
  if (amount >= limit) return cells;
  return Math.min(cells - 1, Math.max(1, Math.round((amount / limit) * cells)));
}

function toneOf(used: number, limit: number, thresholds: readonly number[]): "good" | "warn" | "bad" {
  const crossed = thresholds.filter((percent) => used * 100 >= limit * percent).length;
  if (crossed === 0) return "good";
  return crossed === thresholds.length ? "bad" : "warn";
}

/** `1,200 + 300 of 5,000`: what is held for calls under way stands apart. */
export function amounts({ dimension, used, held, limit }: Position): string {
  const taken = bareFigure(dimension, used);
  const more = held === 0 ? "" : ` + ${bareFigure(dimension, held)}`;
  return `${taken}${more} of ${bareFigure(dimension, limit)}`;
}

function percent({ used, held, limit }: Position): string {
  const share = (amount: number) => (limit === 0 ? 100 : Math.floor((amount / limit) * 100));
  return held === 0 ? `${share(used)} %` : `${share(used)} + ${share(held)} %`;
}
