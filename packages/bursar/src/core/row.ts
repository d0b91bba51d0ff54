/** How many sums and peaks the kernel writes out. They are the first columns of a row, which has at least these. */
export const SUMS = 10;
export const PEAKS = 2;
export const WRITTEN_OUT: number = SUMS + PEAKS;

/** Amounts by column, as the kernel takes them: made once, filled for each call, never allocated on the way. */
export class Row {
  readonly amounts: Float64Array;
  /** Whether columns are concerned that the kernel does not write out. */
  further = false;

  constructor(columns: number) {
    this.amounts = new Float64Array(columns);
  }

  set(column: number, amount: number): this {
    this.amounts[column] = amount;
    if (column >= WRITTEN_OUT && amount !== 0) this.further = true;
    return this;
  }

  clear(): this {
    this.amounts.fill(0);
    this.further = false;
    return this;
  }
}

/** No array of a ledger gets more cells than this: places in it have to stay small integers, which are quick. */
export const MAX_CELLS: number = 2 ** 30;

/** The same cells with room for as many again. */
export function grown(cells: Float64Array): Float64Array {
  const more = new Float64Array(cells.length * 2);
  more.set(cells);
  return more;
}
