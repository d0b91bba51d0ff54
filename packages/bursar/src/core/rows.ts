import type { Amount, Amounts } from "./amount.js";
import { type Budget, capOf, limitOf } from "./budget.js";
import { percentOf } from "./decimal.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { LedgerError } from "./errors.js";
import { Row, UNROLLED } from "./row.js";

// A row begins with these. Then come the free cells of ten columns, the slack of the same ten, and so on for the others.
/** Where the parent's row begins; -1 at the root. */
const PARENT = 0;
/** The monotonic time at which there is something to tell; always, where a call needs the exact decision anyway. */
const WAKE = 1;
/** Not 0 where the ancestors hold the budget's limits, so that its calls stop there. */
const FUNDED = 2;
/** Reservations and children not settled yet. */
export const OPEN = 3;
const FREE = 4;
/** From a column's free cell to its slack. */
const SLACK = UNROLLED;

/** Larger sums are left to the exact arithmetic, which refuses a total that would be rounded. Stands for no limit. */
const QUICK_MAX = 2 ** 51;

const FIRST_ROWS = 8;
const MAX_CELLS = 2 ** 30;

/**
 * The memory behind a ledger: one row for each budget, one column for each dimension that is counted, grown by doubling
 * and used again when freed. A column keeps what is left in two cells, because a comparison with zero is all the kernel
 * needs: `free`, the cap less what is used and reserved, and `slack`, the next mark less what is used. What they started
 * from stands at the same places in `caps`, and is only read when a budget is wanted as a value.
 */
export class Rows {
  /** The dimension of each column: sums, then idle columns up to `UNROLLED`, then peaks. Clocks run by themselves. */
  readonly columns: readonly (Dimension | null)[];
  /** The columns before this one are sums. */
  readonly sums: number;
  readonly stride: number;
  cells: Float64Array;
  caps: Float64Array;
  /** Where each column's free cell stands in a row. */
  private readonly offsets: Int32Array;
  /** Both clocks, as passed in last. */
  monotonic = 0;
  instant = 0;
  /** Set by the kernel when usage has reached a mark. */
  told = false;
  /** How many rows have an exact one's flag, or a deadline: while there is none, nobody has to look for one. */
  exacts = 0;
  dated = 0;
  private exact: Uint8Array = new Uint8Array(FIRST_ROWS);
  private readonly budgets: (Budget | null)[] = [];
  private readonly vacant: number[] = [];
  private readonly clocks: readonly Dimension[];
  private readonly columnOf: ReadonlyMap<string, number>;

  constructor(dimensions: Dimensions) {
    const ofKind = (kind: Dimension["kind"]) => dimensions.all.filter((dimension) => dimension.kind === kind);
    const sums = ofKind("sum");
    const idle = new Array<null>(Math.max(0, UNROLLED - sums.length)).fill(null);
    this.columns = [...sums, ...idle, ...ofKind("peak")];
    this.sums = sums.length + idle.length;
    this.clocks = ofKind("clock");
    this.offsets = Int32Array.from(this.columns, (_, c) => FREE + c + UNROLLED * Math.floor(c / UNROLLED));
    this.stride = FREE + 2 * UNROLLED * Math.ceil(this.columns.length / UNROLLED);
    this.cells = new Float64Array(FIRST_ROWS * this.stride);
    this.caps = new Float64Array(FIRST_ROWS * this.stride);
    this.columnOf = new Map(this.columns.flatMap((dimension, column) => (dimension ? [[dimension.id, column]] : [])));
  }

  add(budget: Budget, parent: number | null): number {
    const node = this.vacant.pop() ?? this.budgets.length;
    const row = node * this.stride;
    if (row >= this.cells.length) this.grow();
    this.cells[row + PARENT] = parent === null ? -1 : parent * this.stride;
    this.put(node, budget);
    return node;
  }

  remove(node: number): void {
    this.note(node, null);
    this.cells[node * this.stride + WAKE] = Number.NEGATIVE_INFINITY;
    this.vacant.push(node);
  }

  /** Refuses a row that holds no budget, or one that takes no calls any more. */
  alive(node: number): void {
    const budget = this.known(node);
    if (budget.ended) throw new LedgerError(`budget ${budget.id} has ended; it takes no calls`);
  }

  /** The parent's node, or null at the root. */
  parent(node: number): number | null {
    const row = this.cells[node * this.stride + PARENT] as number;
    return row === -1 ? null : row / this.stride;
  }

  /** Whether a settlement of a path needs the exact arithmetic. */
  needsExact(node: number): boolean {
    if (this.exacts === 0) return false;
    for (let n: number | null = node; n !== null; n = this.parent(n)) if (this.exact[n] === 1) return true;
    return false;
  }

  /** Whether a deadline on a path has passed. */
  isLate(node: number): boolean {
    if (this.dated === 0) return false;
    for (let n: number | null = node; n !== null; n = this.parent(n)) {
      if (this.instant >= (this.known(n).deadline ?? Number.POSITIVE_INFINITY)) return true;
    }
    return false;
  }

  /** The budget in a row, as a value. */
  budget(node: number): Budget {
    const budget = this.known(node);
    const { cells, caps } = this;
    const used: Record<string, Amount> = {};
    const reserved: Record<string, Amount> = {};
    for (const [id, column] of this.columnOf) {
      const at = node * this.stride + (this.offsets[column] as number);
      const spent = ((caps[at + SLACK] as number) - (cells[at + SLACK] as number)) as Amount;
      const held = ((caps[at] as number) - (cells[at] as number) - spent) as Amount;
      if (spent !== 0) used[id] = spent;
      if (held !== 0) reserved[id] = held;
    }
    return { ...budget, used, reserved, open: cells[node * this.stride + OPEN] as number };
  }

  put(node: number, budget: Budget): void {
    const row = node * this.stride;
    this.note(node, budget);
    let blocked = this.exact[node] === 1 || budget.ended || budget.exhausted.length > 0;
    for (let column = 0; column < this.columns.length; column++) {
      // What is still to be told when a limit was 0 before, is told by the exact decision.
      if (this.fill(row, column, budget) <= 0) blocked = true;
    }
    this.cells[row + FUNDED] = budget.funding === "path" ? 0 : 1;
    this.cells[row + OPEN] = budget.open;
    this.cells[row + WAKE] = blocked ? Number.NEGATIVE_INFINITY : this.wakeOf(budget);
  }

  row(amounts: Amounts): Row {
    const row = new Row(this.columns.length, this.sums);
    for (const [id, value] of Object.entries(amounts)) row.set(this.column(id), value);
    return row;
  }

  column(id: string): number {
    const column = this.columnOf.get(id);
    if (column === undefined) throw new LedgerError(`${id} is not counted in this ledger`);
    return column;
  }

  /** Amounts by id again, without the zeros. */
  amounts(row: Float64Array): Amounts {
    const amounts: Record<string, Amount> = {};
    for (const [id, column] of this.columnOf) {
      const value = row[column] as Amount;
      if (value !== 0) amounts[id] = value;
    }
    return amounts;
  }

  /** The kernel's work on the columns it does not write out: further sums, of which all or none are taken, and peaks. */
  takeFurther(row: number, asked: Float64Array): boolean {
    const { cells, caps } = this;
    for (let c = UNROLLED; c < this.sums; c++) {
      if ((cells[row + (this.offsets[c] as number)] as number) <= (asked[c] as number)) return false;
    }
    for (let c = this.sums; c < asked.length; c++) {
      if ((caps[row + (this.offsets[c] as number)] as number) < (asked[c] as number)) return false;
    }
    for (let c = UNROLLED; c < this.sums; c++) {
      const at = row + (this.offsets[c] as number);
      cells[at] = (cells[at] as number) - (asked[c] as number);
    }
    return true;
  }

  /** Whether more was used of a further sum than was held. */
  exceedsFurther(used: Float64Array, held: Float64Array, from: number): boolean {
    for (let c = UNROLLED; c < this.sums; c++) if ((used[c] as number) > (held[from + c] as number)) return true;
    return false;
  }

  bookFurther(row: number, used: Float64Array, held: Float64Array, from: number): void {
    const { cells, caps } = this;
    for (let c = UNROLLED; c < used.length; c++) {
      const at = row + (this.offsets[c] as number);
      const more = used[c] as number;
      const peak = c >= this.sums;
      const slack = peak
        ? Math.min(cells[at + SLACK] as number, (caps[at + SLACK] as number) - more)
        : (cells[at + SLACK] as number) - more;
      const free = peak
        ? Math.min(cells[at] as number, (caps[at] as number) - more)
        : (cells[at] as number) + (held[from + c] as number) - more;
      cells[at + SLACK] = slack;
      cells[at] = free;
      if (slack <= 0) this.told = true;
    }
  }

  /** Undoes a walk of the kernel that ended at `until`. */
  giveBack(row: number, until: number, asked: Float64Array): void {
    const { cells } = this;
    for (let at = row; at !== until; at = cells[at + PARENT] as number) {
      for (let c = 0; c < this.sums; c++) {
        const free = at + (this.offsets[c] as number);
        cells[free] = (cells[free] as number) + (asked[c] as number);
      }
      if (cells[at + FUNDED] !== 0) return;
    }
  }

  /** What the ancestors of a budget held for the usage just booked in it: all of it within its limit, none beyond. */
  drawn(node: number, used: Float64Array, held: Float64Array): void {
    const { cells, caps } = this;
    for (let c = 0; c < this.sums; c++) {
      const at = node * this.stride + (this.offsets[c] as number);
      const cap = caps[at] as number;
      const after = (caps[at + SLACK] as number) - (cells[at + SLACK] as number);
      const before = after - (used[c] as number);
      held[c] = cap === QUICK_MAX ? 0 : Math.max(0, cap - before) - Math.max(0, cap - after);
    }
  }

  private note(node: number, budget: Budget | null): void {
    const before = this.budgets[node];
    this.dated += Number(budget !== null && budget.deadline !== null) - Number((before?.deadline ?? null) !== null);
    const exact = Number(budget !== null && needsExact(budget));
    this.exacts += exact - (before ? (this.exact[node] as number) : 0);
    this.exact[node] = exact;
    this.budgets[node] = budget;
  }

  /** Writes one column, and gives back its slack. */
  private fill(row: number, column: number, budget: Budget): number {
    const id = this.columns[column]?.id;
    const at = row + (this.offsets[column] as number);
    const cap = id === undefined ? QUICK_MAX : quickCap(capOf(budget, id));
    const mark = id === undefined ? QUICK_MAX : Math.min(QUICK_MAX, nextThreshold(budget, id), overdraft(budget, id));
    const used = id === undefined ? 0 : (budget.used[id] ?? 0);
    const reserved = id === undefined ? 0 : (budget.reserved[id] ?? 0);
    this.caps[at] = cap;
    this.caps[at + SLACK] = mark;
    this.cells[at] = cap - used - reserved;
    this.cells[at + SLACK] = mark - used;
    return mark - used;
  }

  private known(node: number): Budget {
    const budget = this.budgets[node];
    if (budget === undefined || budget === null) throw new LedgerError(`there is no budget in row ${node}`);
    return budget;
  }

  private wakeOf(budget: Budget): number {
    const { elapsed, since } = budget.watch;
    const marks = this.clocks.map(({ id }) => Math.min(nextThreshold(budget, id), overdraft(budget, id) - 1));
    const left = Math.min(Number.POSITIVE_INFINITY, ...marks) - elapsed;
    if (since !== null) return since + left;
    return left > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  private grow(): void {
    const length = this.cells.length * 2;
    if (length > MAX_CELLS) throw new LedgerError(`a ledger has no room for more than ${this.budgets.length} budgets`);
    this.cells = grown(this.cells, new Float64Array(length));
    this.caps = grown(this.caps, new Float64Array(length));
    this.exact = grown(this.exact, new Uint8Array(length / this.stride));
  }
}

/** A limit of 0 leaves half a unit free: nothing can be taken from it, yet a call that asks for nothing still fits. */
function quickCap(cap: number): number {
  if (cap === Number.POSITIVE_INFINITY) return QUICK_MAX;
  return cap === 0 ? 0.5 : Math.min(cap, QUICK_MAX - 1);
}

/** Where the quick arithmetic would not do: a wrap-up reserve, and amounts too large for it. */
function needsExact(budget: Budget): boolean {
  if (budget.funding === "aside" || Object.values(budget.aside).some((value) => value !== 0)) return true;
  const large = (amounts: Amounts) => Object.values(amounts).some((value) => value >= QUICK_MAX);
  const highLimit = Object.keys(budget.limits).some((id) => limitOf(budget, id) >= QUICK_MAX);
  return highLimit || large(budget.used) || large(budget.reserved);
}

/** The usage at which the next threshold fires; infinite when all have, or there are none. */
function nextThreshold(budget: Budget, id: string): number {
  const limit = limitOf(budget, id);
  const percent = budget.thresholds[budget.warned[id] ?? 0];
  if (limit === Number.POSITIVE_INFINITY || limit === 0 || percent === undefined) return Number.POSITIVE_INFINITY;
  return percentOf(limit, percent);
}

/** The usage at which the dimension is overdrawn; infinite once that has been recorded. */
function overdraft(budget: Budget, id: string): number {
  return budget.exhausted.includes(id) ? Number.POSITIVE_INFINITY : capOf(budget, id) + 1;
}

export function grown<A extends Float64Array | Int32Array | Uint8Array>(from: A, to: A): A {
  to.set(from);
  return to;
}
