import { grown, SUMS, WRITTEN_OUT } from "./row.js";
import { DEADLINE, FREE, FUNDED, LENT, OPEN, QUICK_MAX, type Rows, WAKE } from "./rows.js";

// Where things stand in an advance. The amounts follow: the free cells and the slack of ten sums; the caps, the marks and
// the highest values seen of two peaks; then these three for each further column.
/** The monotonic time until which it serves; 0 when there is none. */
const UNTIL = 0;
/** The instant until which calls may start. */
const STARTS = 1;
/** The reservations made less those settled. */
export const OPENED = 2;
/** The next budget of the tree that may have one, as its number and 1; -1 at the end of the list, 0 outside of it. */
const NEXT = 3;
const FIRST = 4;
const FURTHER = 32;

/** How many calls like the one at hand an advance is made for. Making it and putting it back costs as much as twenty. */
const CALLS = 256;

const FIRST_ADVANCES = 8;

/**
 * Advances, so that a call costs the same however deep its budget lies. A budget that is called gets a part of what its
 * whole path has free, and of what it can use before the next mark; every row of the path is less by it, as if it were
 * reserved. While it lasts, calls look at the advance alone, and cannot pass a limit or a mark of any ancestor. It is put
 * back, and what was used is written up along the path, before one of those rows is looked at. So nobody can see that
 * there are advances, and no call is refused for what another budget has in advance.
 */
export class Advances {
  cells: Float64Array;
  readonly stride: number;
  /** Both clocks, as passed in last. */
  monotonic = 0;
  instant = 0;
  private readonly rows: Rows;
  /** At the free cell of a column the usage to make an advance for, at its slack the usage it was made for. */
  private sizes: Float64Array;
  /** Where each column's free cell stands in an advance, and the way from there to its slack. */
  private readonly free: Int32Array;
  private readonly slack: Int32Array;
  /** For the advance in the making: the least that its path has free, and the least slack, by column. */
  private readonly least: Float64Array;

  constructor(rows: Rows) {
    const { columns } = rows;
    this.rows = rows;
    this.stride = FURTHER + 3 * (columns.length - WRITTEN_OUT);
    this.cells = new Float64Array(FIRST_ADVANCES * this.stride);
    this.sizes = new Float64Array(FIRST_ADVANCES * this.stride);
    this.least = new Float64Array(2 * columns.length);
    this.free = Int32Array.from(columns, (_, c) => freeCell(c));
    this.slack = Int32Array.from(columns, (_, c) => (c < SUMS ? SUMS : c < WRITTEN_OUT ? 2 : 1));
  }

  /** Makes room for a new budget. */
  add(node: number): void {
    const at = node * this.stride;
    if (at >= this.cells.length) {
      this.cells = grown(this.cells);
      this.sizes = grown(this.sizes);
    }
    this.cells.fill(0, at, at + this.stride);
    this.sizes.fill(0, at, at + this.stride);
  }

  /** Makes a new advance for calls like this one; `false` where the path needs the exact arithmetic. */
  renew(node: number, amounts: Float64Array): boolean {
    const { rows, cells } = this;
    const at = node * this.stride;
    this.close(node);
    this.least.fill(Number.POSITIVE_INFINITY);
    let until = Number.POSITIVE_INFINITY;
    let starts = Number.POSITIVE_INFINITY;
    let covered = false;
    let root = 0;
    for (let row = node * rows.stride; row !== -1; row = rows.above(row)) {
      until = Math.min(until, rows.cells[row + WAKE] as number);
      starts = Math.min(starts, rows.cells[row + DEADLINE] as number);
      if (!covered && rows.isFull(row)) starts = Number.NEGATIVE_INFINITY;
      this.narrow(row, covered);
      if (rows.cells[row + FUNDED] !== 0) covered = true;
      root = row;
    }
    if (!(this.monotonic < until)) return false;
    this.fill(at, amounts);
    this.move(node, -1);
    cells[at + UNTIL] = until;
    cells[at + STARTS] = starts;
    if (cells[at + NEXT] === 0) {
      cells[at + NEXT] = (rows.cells[root + LENT] as number) || -1;
      rows.cells[root + LENT] = node + 1;
    }
    return true;
  }

  /** Puts back every advance in the tree of a budget. Whoever looks at one of its rows comes here first. */
  putBack(node: number): void {
    const { rows, cells } = this;
    let root = node * rows.stride;
    for (let row = root; row !== -1; row = rows.above(row)) root = row;
    let next = (rows.cells[root + LENT] as number) | 0;
    rows.cells[root + LENT] = 0;
    while (next > 0) {
      const at = (next - 1) * this.stride;
      this.close(next - 1);
      next = (cells[at + NEXT] as number) | 0;
      cells[at + NEXT] = 0;
    }
  }

  /** The kernel's work on the columns it does not write out: it takes all of them or none. */
  takeFurther(at: number, asked: Float64Array, held: Float64Array, to: number): boolean {
    const { cells, rows } = this;
    // The cap of a peak stands where a sum has what is free, so one comparison serves both.
    for (let c = WRITTEN_OUT; c < asked.length; c++) {
      if ((asked[c] as number) > (cells[at + freeCell(c)] as number)) return false;
    }
    for (let c = WRITTEN_OUT; c < asked.length; c++) {
      const free = at + freeCell(c);
      if (c < rows.furtherPeaks) cells[free] = (cells[free] as number) - (asked[c] as number);
      held[to + c] = asked[c] as number;
    }
    return true;
  }

  bookFurther(at: number, used: Float64Array, held: Float64Array, from: number): boolean {
    const { cells, rows } = this;
    for (let c = WRITTEN_OUT; c < used.length; c++) {
      const free = at + freeCell(c);
      const more = used[c] as number;
      const peak = c >= rows.furtherPeaks;
      if (peak ? more >= (cells[free + 1] as number) : more > (cells[free + 1] as number)) return false;
      if (!peak && (cells[free] as number) + (held[from + c] as number) < more) return false;
    }
    for (let c = WRITTEN_OUT; c < used.length; c++) {
      const free = at + freeCell(c);
      const more = used[c] as number;
      if (c >= rows.furtherPeaks) {
        cells[free + 2] = Math.max(cells[free + 2] as number, more);
      } else {
        cells[free + 1] = (cells[free + 1] as number) - more;
        cells[free] = (cells[free] as number) + (held[from + c] as number) - more;
      }
    }
    return true;
  }

  /** Keeps the least of what each row of a path has: what is left of sums, the caps and marks of peaks. */
  private narrow(row: number, covered: boolean): void {
    const { least } = this;
    const { cells, caps, slack, isPeak } = this.rows;
    for (let c = 0; c < slack; c++) {
      const from = isPeak[c] === 1 ? caps : cells;
      const free = from[row + FREE + c] as number;
      const toMark = from[row + FREE + c + slack] as number;
      if (!covered && free < (least[c] as number)) least[c] = free;
      if (toMark < (least[c + slack] as number)) least[c + slack] = toMark;
    }
  }

  /** Writes an advance, out of the least that is left on its path. */
  private fill(at: number, amounts: Float64Array): void {
    const { cells, sizes, least } = this;
    const { slack, isPeak } = this.rows;
    for (let c = 0; c < slack; c++) {
      const free = at + (this.free[c] as number);
      const way = this.slack[c] as number;
      const amount = amounts[c] as number;
      if (isPeak[c] === 1) {
        cells[free] = least[c] as number;
        cells[free + way] = least[c + slack] as number;
        cells[free + 2 * way] = 0;
      } else {
        if (amount !== 0) sizes[free] = amount * CALLS;
        cells[free] = share(least[c] as number, sizes[free] as number, amount);
        cells[free + way] = share(least[c + slack] as number, sizes[free] as number, amount);
        sizes[free + way] = cells[free + way] as number;
      }
    }
  }

  /** Puts back what is left of an advance and writes up what was used of it. */
  private close(node: number): void {
    const { cells, rows } = this;
    const at = node * this.stride;
    if (cells[at + UNTIL] === 0) return;
    const open = node * rows.stride + OPEN;
    rows.cells[open] = (rows.cells[open] as number) + (cells[at + OPENED] as number);
    cells[at + OPENED] = 0;
    cells[at + UNTIL] = 0;
    this.move(node, 1);
  }

  /** Moves what stands in an advance from the rows of its path, or back to them. */
  private move(node: number, back: 1 | -1): void {
    const { rows } = this;
    const at = node * this.stride;
    // Above a budget whose limits are held, what it uses is drawn from the hold, and what it reserves concerns nobody.
    let funded = -1;
    for (let row = node * rows.stride; row !== -1; row = rows.above(row)) {
      this.moveRow(at, row, back, funded);
      if (rows.cells[row + FUNDED] !== 0) funded = row;
    }
  }

  private moveRow(at: number, row: number, back: 1 | -1, funded: number): void {
    const { cells, sizes } = this;
    const { cells: left, caps, slack, isPeak } = this.rows;
    for (let c = 0; c < slack; c++) {
      const cell = row + FREE + c;
      const free = at + (this.free[c] as number);
      const way = this.slack[c] as number;
      if (isPeak[c] === 1) {
        const highest = cells[free + 2 * way] as number;
        left[cell] = Math.min(left[cell] as number, (caps[cell] as number) - highest);
        left[cell + slack] = Math.min(left[cell + slack] as number, (caps[cell + slack] as number) - highest);
        continue;
      }
      left[cell + slack] = (left[cell + slack] as number) + back * (cells[free + way] as number);
      if (funded === -1) {
        left[cell] = (left[cell] as number) + back * (cells[free] as number);
      } else if (caps[funded + FREE + c] === QUICK_MAX) {
        // Without a limit nothing is held, so that the usage has to come from what is free.
        left[cell] = (left[cell] as number) + (cells[free + way] as number) - (sizes[free + way] as number);
      }
    }
  }
}

/** Where a column's free cell stands in an advance. */
function freeCell(column: number): number {
  if (column < SUMS) return FIRST + column;
  return column < WRITTEN_OUT ? FIRST + SUMS + column : FURTHER + 3 * (column - WRITTEN_OUT);
}

/** How much to lend of what is there: half at most, for the sake of others, unless the call at hand needs more. */
function share(left: number, size: number, amount: number): number {
  // One unit always stays: a row with nothing free refuses every call, and one at its mark has something to tell.
  const most = Math.max(0, Math.floor(left) - 1);
  return Math.min(size, Math.max(Math.floor(most / 2), Math.min(amount, most)));
}
