import { clip, pad, type Style, widthOf } from "./style.js";

const INDENT = "  ";
const GAP = "  ";

export interface Column {
  readonly title: string;
  /** Figures stand below each other by their last digit. */
  readonly right?: true;
}

/** A table; what does not fit on a line is cut. */
export function tableText(
  columns: readonly Column[],
  rows: readonly (readonly string[])[],
  width: number,
  style: Style,
): string {
  const widths = columns.map(({ title }, at) => Math.max(title.length, ...rows.map((row) => widthOf(row[at] ?? ""))));
  const line = (cells: readonly string[]) => {
    const placed = cells.map((cell, at) => {
      const room = widths[at] ?? 0;
      return columns[at]?.right === true ? `${" ".repeat(Math.max(0, room - widthOf(cell)))}${cell}` : pad(cell, room);
    });
    return clip(`${INDENT}${placed.join(GAP)}`.trimEnd(), width);
  };
  const head = line(columns.map(({ title }) => title));
  return [style.dim(head), ...rows.map(line)].map((each) => `${each}\n`).join("");
}
