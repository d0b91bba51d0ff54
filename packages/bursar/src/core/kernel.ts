import type { Advances } from "./advances.js";
import type { Row } from "./row.js";

// The two steps that every call pays for. They are written out column by column, with the layout of an advance as plain
// numbers, because loops would triple their cost; `bench/gate` watches over it. Columns beyond the first ten sums and two
// peaks pay for loops, where a call concerns them.

/** Takes a call's amounts from an advance and notes them in `held`, or takes none of them and gives `false`. */
export function take(advances: Advances, at: number, asked: Row, held: Float64Array, to: number): boolean {
  const { cells } = advances;
  const { amounts } = asked;
  // Written so that an unknown row, which gives undefined, is refused too.
  if (!(advances.monotonic < (cells[at] as number) && advances.instant < (cells[at + 1] as number))) return false;
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
  const a10 = amounts[10] as number;
  const a11 = amounts[11] as number;
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
  if (f0 < 0 || f1 < 0 || f2 < 0 || f3 < 0 || f4 < 0 || f5 < 0 || f6 < 0 || f7 < 0 || f8 < 0 || f9 < 0) return false;
  if (a10 > (cells[at + 24] as number) || a11 > (cells[at + 25] as number)) return false;
  if (asked.further && !advances.takeFurther(at, amounts, held, to)) return false;
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
  held[to] = a0;
  held[to + 1] = a1;
  held[to + 2] = a2;
  held[to + 3] = a3;
  held[to + 4] = a4;
  held[to + 5] = a5;
  held[to + 6] = a6;
  held[to + 7] = a7;
  held[to + 8] = a8;
  held[to + 9] = a9;
  held[to + 10] = a10;
  held[to + 11] = a11;
  return true;
}

/**
 * Books what a call has used in an advance and gives back what was held beyond it, or does neither and gives `false`.
 * Where more was used than held, the advance pays the difference.
 */
export function book(
  advances: Advances,
  at: number,
  used: Float64Array,
  held: Float64Array,
  from: number,
  further: boolean,
): boolean {
  const { cells } = advances;
  if (!(advances.monotonic < (cells[at] as number))) return false;
  const u10 = used[10] as number;
  const u11 = used[11] as number;
  const s0 = (cells[at + 14] as number) - (used[0] as number);
  const s1 = (cells[at + 15] as number) - (used[1] as number);
  const s2 = (cells[at + 16] as number) - (used[2] as number);
  const s3 = (cells[at + 17] as number) - (used[3] as number);
  const s4 = (cells[at + 18] as number) - (used[4] as number);
  const s5 = (cells[at + 19] as number) - (used[5] as number);
  const s6 = (cells[at + 20] as number) - (used[6] as number);
  const s7 = (cells[at + 21] as number) - (used[7] as number);
  const s8 = (cells[at + 22] as number) - (used[8] as number);
  const s9 = (cells[at + 23] as number) - (used[9] as number);
  if (s0 < 0 || s1 < 0 || s2 < 0 || s3 < 0 || s4 < 0 || s5 < 0 || s6 < 0 || s7 < 0 || s8 < 0 || s9 < 0) return false;
  const f0 = (cells[at + 4] as number) + (held[from] as number) - (used[0] as number);
  const f1 = (cells[at + 5] as number) + (held[from + 1] as number) - (used[1] as number);
  const f2 = (cells[at + 6] as number) + (held[from + 2] as number) - (used[2] as number);
  const f3 = (cells[at + 7] as number) + (held[from + 3] as number) - (used[3] as number);
  const f4 = (cells[at + 8] as number) + (held[from + 4] as number) - (used[4] as number);
  const f5 = (cells[at + 9] as number) + (held[from + 5] as number) - (used[5] as number);
  const f6 = (cells[at + 10] as number) + (held[from + 6] as number) - (used[6] as number);
  const f7 = (cells[at + 11] as number) + (held[from + 7] as number) - (used[7] as number);
  const f8 = (cells[at + 12] as number) + (held[from + 8] as number) - (used[8] as number);
  const f9 = (cells[at + 13] as number) + (held[from + 9] as number) - (used[9] as number);
  if (f0 < 0 || f1 < 0 || f2 < 0 || f3 < 0 || f4 < 0 || f5 < 0 || f6 < 0 || f7 < 0 || f8 < 0 || f9 < 0) return false;
  if (u10 >= (cells[at + 26] as number) || u11 >= (cells[at + 27] as number)) return false;
  if (further && !advances.bookFurther(at, used, held, from)) return false;
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
  cells[at + 14] = s0;
  cells[at + 15] = s1;
  cells[at + 16] = s2;
  cells[at + 17] = s3;
  cells[at + 18] = s4;
  cells[at + 19] = s5;
  cells[at + 20] = s6;
  cells[at + 21] = s7;
  cells[at + 22] = s8;
  cells[at + 23] = s9;
  if (u10 > (cells[at + 28] as number)) cells[at + 28] = u10;
  if (u11 > (cells[at + 29] as number)) cells[at + 29] = u11;
  return true;
}
