import type { Amount, Amounts } from "./amount.js";
import { type Budget, capOf, limitOf } from "./budget.js";
import { percentOf } from "./decimal.js";
import type { Dimension } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";
import { LedgerError } from "./errors.js";
import { grown, MAX_CELLS, PEAKS, Row, SUMS, WRITTEN_OUT } from "./row.js";

// A row begins with these; then come the free cells of all columns, then their slack.
/** Where the parent's row begins; -1 at the root. */
const PARENT = 0;
/** The monotonic time at which there is something to tell; always, where a path needs the exact arithmetic anyway. */
export const WAKE = 1;
/** Not 0 where the ancestors hold the budget's limits, so that its calls need not ask them. */
export const FUNDED = 2;
/** Reservations and children not settled yet. */
export const OPEN = 3;
/** The instant after which nothing may start. */
export const DEADLINE = 4;
/** Not 0 where a column may have nothing free, so that even a call that asks for nothing of it is refused. */
const FULL = 5;
/** Of a root: the first budget of its tree that has an advance, as its number and 1, or 0. */
export const LENT = 6;
/** Where the first column's free cell stands. */
export const FREE = 8;

/** Larger sums are left to the exact arithmetic, which refuses a total that would be rounded. Stands for no limit. */
export const QUICK_MAX: number = 2 ** 51;

const FIRST_ROWS = 8;

/**
 * What is left in every budget of a ledger: one row for each, one column for each dimension that is counted, grown by
 * doubling and used again when freed. A column has two cells: `free`, the cap less what is used and reserved, and
 * `slack`, the next mark less what is used. What they started from stands at the same places in `caps`.
 */
export class Rows {
  /** The dimension of each column: the sums and peaks that the kernel writes out, the further sums, the further peaks. */
  readonly columns: readonly (Dimension | null)[];
  /** 1 for every column of a peak. */
  readonly isPeak: Uint8Array;
  /** Where the further peaks begin. */
  readonly furtherPeaks: number;
  /** From a column's free cell to its slack. */
  readonly slack: number;
  readonly stride: number;
  cells: Float64Array;
  caps: Float64Array;
  private readonly budgets: (Budget | null)[] = [];
  private readonly vacant: number[] = [];
  private readonly clocks: readonly Dimension[];
  private readonly columnOf: ReadonlyMap<string, number>;

  constructor(dimensions: Dimensions) {
    const ofKind = (kind: Dimension["kind"]) => dimensions.all.filter((dimension) => dimension.kind === kind);
    const sums = ofKind("sum");
    const peaks = ofKind("peak");
    this.columns = [...first(SUMS, sums), ...first(PEAKS, peaks), ...sums.slice(SUMS), ...peaks.slice(PEAKS)];
    this.furtherPeaks = WRITTEN_OUT + Math.max(0, sums.length - SUMS);
    this.isPeak = new Uint8Array(this.columns.length).fill(1, SUMS, WRITTEN_OUT).fill(1, this.furtherPeaks);
    this.clocks = ofKind("clock");
    this.slack = this.columns.length;
    this.stride = FREE + 2 * this.columns.length;
    this.cells = new Float64Array(FIRST_ROWS * this.stride);
    this.caps = new Float64Array(FIRST_ROWS * this.stride);
    this.columnOf = new Map(this.columns.flatMap((dimension, column) => (dimension ? [[dimension.id, column]] : [])));
  }

  add(budget: Budget, parent: number | null): number {
    const node = this.vacant.pop() ?? this.budgets.length;
    const row = node * this.stride;
    if (row >= this.cells.length) this.grow();
    this.cells[row + PARENT] = parent === null ? -1 : parent * this.stride;
    this.cells[row + LENT] = 0;
    this.put(node, budget);
    return node;
  }

  remove(node: number): void {
    this.budgets[node] = null;
    this.vacant.push(node);
  }

  /** The budget in a row as it was put there; `budget` has its figures. */
  known(node: number): Budget {
    const budget = this.budgets[node];
    if (budget === undefined || budget === null) throw new LedgerError(`there is no budget in row ${node}`);
    return budget;
  }

  /** Refuses a row that holds no budget, or one that takes no calls any more. */
  alive(node: number): void {
    const budget = this.known(node);
    if (budget.ended) throw new LedgerError(`budget ${budget.id} has ended; it takes no calls`);
  }

  /** Where the parent's row begins; -1 at the root. */
  above(row: number): number {
    // A place is a small integer, which the compiler only believes when told.
    return (this.cells[row + PARENT] as number) | 0;
  }

  /** The parent's node, or null at the root. */
  parent(node: number): number | null {
    const row = this.above(node * this.stride);
    return row === -1 ? null : row / this.stride;
  }

  /** The budget in a row, as a value. */
  budget(node: number): Budget {
    const budget = this.known(node);
    const { cells, caps, slack } = this;
    const used: Record<string, Amount> = {};
    const reserved: Record<string, Amount> = {};
    for (const [id, column] of this.columnOf) {
      const at = node * this.stride + FREE + column;
      const spent = ((caps[at + slack] as number) - (cells[at + slack] as number)) as Amount;
      const held = ((caps[at] as number) - (cells[at] as number) - spent) as Amount;
      if (spent !== 0) used[id] = spent;
      if (held !== 0) reserved[id] = held;
    }
    return { ...budget, used, reserved, open: cells[node * this.stride + OPEN] as number };
  }

  put(node: number, budget: Budget): void {
    const { cells, slack } = this;
    const row = node * this.stride;
    this.budgets[node] = budget;
    let exact = budget.ended || budget.exhausted.length > 0 || needsExact(budget);
    for (let column = 0; column < this.columns.length; column++) {
      this.fill(row + FREE + column, column, budget);
      // What is still to be told when a limit was 0 before, is told by the exact decision.
      if ((cells[row + FREE + slack + column] as number) <= 0) exact = true;
    }
    cells[row + WAKE] = exact ? Number.NEGATIVE_INFINITY : this.wakeOf(budget);
    cells[row + FUNDED] = budget.funding === "path" ? 0 : 1;
    cells[row + OPEN] = budget.open;
    cells[row + DEADLINE] = budget.deadline ?? Number.POSITIVE_INFINITY;
    cells[row + FULL] = 1;
  }

  /** Whether a column has nothing free. Only `put` can bring that about, so the answer no stays until then. */
  isFull(row: number): boolean {
    const { cells } = this;
    if (cells[row + FULL] === 0) return false;
    for (let c = 0; c < this.columns.length; c++) {
      if (this.isPeak[c] === 0 && (cells[row + FREE + c] as number) <= 0) return true;
    }
    cells[row + FULL] = 0;
    return false;
  }

  row(amounts: Amounts): Row {
    const row = new Row(this.columns.length);
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

  /** Writes the two cells of one column, the free one of which stands at `at`. */
  private fill(at: number, column: number, budget: Budget): void {
    const { cells, caps, slack } = this;
    const id = this.columns[column]?.id;
    const used = id === undefined ? 0 : (budget.used[id] ?? 0);
    const reserved = id === undefined ? 0 : (budget.reserved[id] ?? 0);
    const cap = id === undefined ? QUICK_MAX : quickCap(capOf(budget, id), used + reserved);
    const mark = id === undefined ? QUICK_MAX : Math.min(QUICK_MAX, nextThreshold(budget, id), overdraft(budget, id));
    caps[at] = cap;
    caps[at + slack] = mark;
    cells[at] = cap - used - reserved;
    cells[at + slack] = mark - used;
  }

  private wakeOf(budget: Budget): number {
    const { elapsed, since } = budget.watch;
    const marks = this.clocks.map(({ id }) => Math.min(nextThreshold(budget, id), overdraft(budget, id) - 1));
    const left = Math.min(Number.POSITIVE_INFINITY, ...marks) - elapsed;
    if (since !== null) return since + left;
    return left > 0 ? Number.POSITIVE_INFINITY : Number.NEGATIVE_INFINITY;
  }

  private grow(): void {
    if (this.cells.length * 2 > MAX_CELLS) {
      throw new LedgerError(`a ledger has no room for more than ${this.budgets.length} budgets`);
    }
    this.cells = grown(this.cells);
    this.caps = grown(this.caps);
  }
}

/** The first dimensions of a kind, filled up with idle columns. */
function first(count: number, dimensions: readonly Dimension[]): readonly (Dimension | null)[] {
  return Array.from({ length: count }, (_, index) => dimensions[index] ?? null);
}

/** A limit of 0 leaves half a unit free: nothing can be taken from it, yet a call that asks for nothing still fits. */
function quickCap(cap: number, taken: number): number {
  if (cap === Number.POSITIVE_INFINITY) return QUICK_MAX;
  return cap === 0 && taken === 0 ? 0.5 : Math.min(cap, QUICK_MAX - 1);
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
