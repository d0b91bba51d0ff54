/** How many columns the kernel writes out; every row has at least as many. */
export const UNROLLED = 10;

/** Amounts by column, as the kernel takes them: made once, filled for each call, never allocated on the way. */
export class Row {
  readonly amounts: Float64Array;
  /** Whether columns are concerned that the kernel does not write out. A full sum concerns every call, a peak of 0 none. */
  further: boolean;
  private readonly always: boolean;

  constructor(columns: number, sums: number) {
    this.amounts = new Float64Array(columns);
    this.always = sums > UNROLLED;
    this.further = this.always;
  }

  set(column: number, amount: number): this {
    this.amounts[column] = amount;
    if (column >= UNROLLED && amount !== 0) this.further = true;
    return this;
  }

  clear(): this {
    this.amounts.fill(0);
    this.further = this.always;
    return this;
  }
}
