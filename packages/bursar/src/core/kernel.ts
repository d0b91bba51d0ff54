import type { Row } from "./row.js";
import type { Rows } from "./rows.js";

// The two walks that every call pays for, over the first ten columns and in one array. They are written out column by
// column, with the layout of a row (see `rows.ts`) as plain numbers, because loops and imported constants would triple
// their cost; `bench/gate` watches over it. Further columns and peaks pay for loops, where a call concerns them.

/** What `book` returns when more was used than held. Nothing is booked then. */
export const EXCEEDED = -2;

/**
 * Takes a call's amounts from every budget of its path and notes them in `held`, or takes none. `false` only means that
 * the exact decision is needed.
 */
export function take(rows: Rows, row: number, asked: Row, held: Float64Array, to: number): boolean {
  const { cells, monotonic } = rows;
  const { amounts, further } = asked;
  const a0 = amounts[0] as number;
  const a1 = amounts[1] as number;
  const a2 = amounts[2] as number;
  const a3 = amounts[3] as number;
  const a4 = amounts[4] as number;
  const a5 = amounts[5] as number;
  const a6 = amounts[6] as number;
  const a7 = amounts[7] as number;
  const a8 = amounts[8] as number;
  const a9 = amounts[9] as number;
  let covered = false;
  for (let at = row; at !== -1; at = (cells[at] as number) | 0) {
    const awake = monotonic >= (cells[at + 1] as number);
    if (covered && !awake) continue;
    const f0 = (cells[at + 4] as number) - a0;
    const f1 = (cells[at + 5] as number) - a1;
    const f2 = (cells[at + 6] as number) - a2;
    const f3 = (cells[at + 7] as number) - a3;
    const f4 = (cells[at + 8] as number) - a4;
    const f5 = (cells[at + 9] as number) - a5;
    const f6 = (cells[at + 10] as number) - a6;
    const f7 = (cells[at + 11] as number) - a7;
    const f8 = (cells[at + 12] as number) - a8;
    const f9 = (cells[at + 13] as number) - a9;
    const first = !awake && f0 > 0 && f1 > 0 && f2 > 0 && f3 > 0 && f4 > 0;
    if (!(first && f5 > 0 && f6 > 0 && f7 > 0 && f8 > 0 && f9 > 0) || (further && !rows.takeFurther(at, amounts))) {
      rows.giveBack(row, at, amounts);
      return false;
    }
    cells[at + 4] = f0;
    cells[at + 5] = f1;
    cells[at + 6] = f2;
    cells[at + 7] = f3;
    cells[at + 8] = f4;
    cells[at + 9] = f5;
    cells[at + 10] = f6;
    cells[at + 11] = f7;
    cells[at + 12] = f8;
    cells[at + 13] = f9;
    covered = cells[at + 2] !== 0;
  }
  held[to + 0] = a0;
  held[to + 1] = a1;
  held[to + 2] = a2;
  held[to + 3] = a3;
  held[to + 4] = a4;
  held[to + 5] = a5;
  held[to + 6] = a6;
  held[to + 7] = a7;
  held[to + 8] = a8;
  held[to + 9] = a9;
  if (further) for (let c = 10; c < amounts.length; c++) held[to + c] = amounts[c] as number;
  return true;
}

/**
 * Books usage from a budget upwards and gives back what was held beyond it, up to and including the first budget whose
 * limits its ancestors hold. Returns the row to go on with, or -1 at the root; `rows.told` says whether there is
 * something to tell.
 */
export function book(rows: Rows, row: number, used: Row, held: Float64Array, from: number): number {
  const { cells, monotonic } = rows;
  const { amounts, further } = used;
  const u0 = amounts[0] as number;
  const u1 = amounts[1] as number;
  const u2 = amounts[2] as number;
  const u3 = amounts[3] as number;
  const u4 = amounts[4] as number;
  const u5 = amounts[5] as number;
  const u6 = amounts[6] as number;
  const u7 = amounts[7] as number;
  const u8 = amounts[8] as number;
  const u9 = amounts[9] as number;
  const r0 = (held[from + 0] as number) - u0;
  const r1 = (held[from + 1] as number) - u1;
  const r2 = (held[from + 2] as number) - u2;
  const r3 = (held[from + 3] as number) - u3;
  const r4 = (held[from + 4] as number) - u4;
  const r5 = (held[from + 5] as number) - u5;
  const r6 = (held[from + 6] as number) - u6;
  const r7 = (held[from + 7] as number) - u7;
  const r8 = (held[from + 8] as number) - u8;
  const r9 = (held[from + 9] as number) - u9;
  if (r0 < 0 || r1 < 0 || r2 < 0 || r3 < 0 || r4 < 0 || r5 < 0 || r6 < 0 || r7 < 0 || r8 < 0 || r9 < 0) return EXCEEDED;
  if (further && rows.exceedsFurther(amounts, held, from)) return EXCEEDED;
  for (let at = row; at !== -1; at = (cells[at] as number) | 0) {
    const s0 = spend(cells, at + 4, u0, r0);
    const s1 = spend(cells, at + 5, u1, r1);
    const s2 = spend(cells, at + 6, u2, r2);
    const s3 = spend(cells, at + 7, u3, r3);
    const s4 = spend(cells, at + 8, u4, r4);
    const s5 = spend(cells, at + 9, u5, r5);
    const s6 = spend(cells, at + 10, u6, r6);
    const s7 = spend(cells, at + 11, u7, r7);
    const s8 = spend(cells, at + 12, u8, r8);
    const s9 = spend(cells, at + 13, u9, r9);
    const first = s0 <= 0 || s1 <= 0 || s2 <= 0 || s3 <= 0 || s4 <= 0;
    if (first || s5 <= 0 || s6 <= 0 || s7 <= 0 || s8 <= 0 || s9 <= 0) rows.told = true;
    if (monotonic >= (cells[at + 1] as number)) rows.told = true;
    if (further) rows.bookFurther(at, amounts, held, from);
    if (cells[at + 2] !== 0) return cells[at] as number;
  }
  return -1;
}

/** One column: less slack by what was used, more free by what was held beyond it. */
function spend(cells: Float64Array, at: number, used: number, rest: number): number {
  const slack = (cells[at + 10] as number) - used;
  cells[at + 10] = slack;
  cells[at] = (cells[at] as number) + rest;
  return slack;
}
