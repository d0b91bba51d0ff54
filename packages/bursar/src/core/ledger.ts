import type { Amounts } from "./amount.js";
import type { Budget, Path } from "./budget.js";
import { endBudget, type Opened, type Opening, openBudget } from "./children.js";
import { type Decision, decide } from "./decision.js";
import type { Dimensions } from "./dimensions.js";
import { LedgerError } from "./errors.js";
import { type Extended, extendBudget } from "./extension.js";
import { book, EXCEEDED, take } from "./kernel.js";
import type { Notice } from "./notice.js";
import type { Row } from "./row.js";
import { OPEN, Rows } from "./rows.js";
import { closed, type Deltas, reserve, settle, sums } from "./settlement.js";
import { Slots } from "./slots.js";
import { paused, resumed, type Time } from "./time.js";

/** A budget in a ledger: the number of its row. */
export type Node = number;

/** A reservation in a ledger: the number of its slot, valid until it is settled. */
export type Slot = number;

/** What `reserve` and `open` give instead of a slot or a node; `decision` says why. */
export const REFUSED = -1;

const ADMITTED: Decision = Object.freeze({ kind: "admitted", findings: Object.freeze([]) });

/**
 * The budget tree of one process, for the hot path: flat typed arrays, and no allocation as long as calls fit. It is
 * mutable and quick; what it does is defined by the pure functions beside it. Only the plain cases are worked out here,
 * a call that fits and a settlement that stays inside what is held; everything else is handed to those functions and
 * their answer written back. Call ids, and so exactly-once, are the business of whoever owns it.
 */
export class Ledger {
  readonly dimensions: Dimensions;
  /** The answer to the latest `reserve`. */
  decision: Decision = ADMITTED;
  private readonly rows: Rows;
  private readonly slots: Slots;
  private readonly tell: (notice: Notice) => void;
  /** What was held for the usage at hand, further up its path. */
  private readonly held: Float64Array;

  constructor(dimensions: Dimensions, tell: (notice: Notice) => void = () => {}) {
    this.dimensions = dimensions;
    this.rows = new Rows(dimensions);
    this.slots = new Slots(this.rows.columns.length);
    this.held = this.rows.row({}).amounts;
    this.tell = tell;
  }

  /** Passes both clocks in. Running time seen here never goes back. */
  at(time: Time): void {
    if (time.monotonic > this.rows.monotonic) this.rows.monotonic = time.monotonic;
    this.rows.instant = time.instant;
  }

  /** A row of amounts, one column for every dimension that is counted: made once, it serves many calls. */
  row(amounts: Amounts = {}): Row {
    return this.rows.row(amounts);
  }

  /** The column of a dimension in a row. */
  column(id: string): number {
    return this.rows.column(id);
  }

  open(parent: Node | null, opening: Opening): Opened & { readonly node: Node } {
    if (parent !== null) this.rows.alive(parent);
    const above = parent === null ? [] : this.path(parent);
    const opened = openBudget(above, opening, this.time(), this.dimensions);
    if (parent !== null) this.write(parent, opened.path);
    opened.notices.forEach(this.tell);
    return { ...opened, node: opened.budget === null ? REFUSED : this.rows.add(opened.budget, parent) };
  }

  /** All of the row along the path, or none of it and `REFUSED`. Unless told otherwise it is charged when it expires. */
  reserve(node: Node, asked: Row, expires: number = Number.POSITIVE_INFINITY, charged = true): Slot {
    const { rows, slots } = this;
    const row = node * rows.stride;
    if (rows.isLate(node) || !take(rows, row, asked, slots.asked, slots.next())) {
      return this.reserveExactly(node, asked, expires, charged);
    }
    rows.cells[row + OPEN] = (rows.cells[row + OPEN] as number) + 1;
    this.decision = ADMITTED;
    return slots.take(node, expires, charged, asked.further);
  }

  /** Replaces a reservation by what was used. */
  commit(slot: Slot, used: Row): void {
    const { rows, slots } = this;
    const node = slots.leaf(slot);
    if (rows.needsExact(node) || !this.book(node, used, slots.asked, slots.from(slot))) {
      this.settleSlot(slot, rows.amounts(used.amounts));
      return;
    }
    const open = node * rows.stride + OPEN;
    rows.cells[open] = (rows.cells[open] as number) - 1;
    slots.free(slot);
    if (rows.told) this.tick(node);
  }

  /** Gives a reservation back: nothing is charged. */
  release(slot: Slot): void {
    this.settleSlot(slot, {});
  }

  /** Settles a reservation whose holder has died, by the kind of its call. */
  expire(slot: Slot): void {
    this.slots.leaf(slot);
    this.settleSlot(slot, this.slots.isCharged(slot) ? this.rows.amounts(this.slots.row(slot)) : {});
  }

  /** Expires every reservation whose instant has come, and says how many there were. */
  sweep(): number {
    const due = this.slots.due(this.rows.instant);
    for (const slot of due) this.expire(slot);
    return due.length;
  }

  /** Records usage that was never reserved. It is the truth, so it is never refused. */
  charge(node: Node, used: Row): void {
    const { rows, held } = this;
    const quick = !rows.needsExact(node) && take(rows, node * rows.stride, used, held, 0);
    if (!quick) this.settleExactly(node, {}, rows.amounts(used.amounts), false);
    else if (this.book(node, used, held, 0) && rows.told) this.tick(node);
  }

  /** Corrects what was charged, in either direction, when the truth arrives late. */
  correct(node: Node, deltas: Deltas): void {
    this.settleExactly(node, {}, deltas, false);
  }

  extend(node: Node, additional: Amounts): Extended {
    const extended = extendBudget(this.path(node), additional, this.time(), this.dimensions);
    if (extended.kind === "extended") this.write(node, extended.path);
    return extended;
  }

  /** Stops the budget's clock. */
  pause(node: Node): void {
    this.rows.alive(node);
    const budget = this.budget(node);
    this.rows.put(node, { ...budget, watch: paused(budget.watch, this.time()) });
  }

  resume(node: Node): void {
    this.rows.alive(node);
    const budget = this.budget(node);
    this.rows.put(node, { ...budget, watch: resumed(budget.watch, this.time()) });
  }

  /** Tells what time alone has brought about: thresholds of clocks, and clocks that have run out. */
  tick(node: Node): void {
    this.settleExactly(node, {}, {}, false);
  }

  end(node: Node): void {
    this.write(node, endBudget(this.path(node), this.time(), this.dimensions));
  }

  /** Forgets a budget that has ended, so that its row can serve again. */
  recycle(node: Node): void {
    const { id, ended } = this.budget(node);
    if (!ended) throw new LedgerError(`budget ${id} has not ended yet`);
    this.rows.remove(node);
  }

  /** The budget as a value. */
  budget(node: Node): Budget {
    return this.rows.budget(node);
  }

  /** The budget and its ancestors as values, leaf first. */
  path(node: Node): Path {
    const path: Budget[] = [];
    for (let n: Node | null = node; n !== null; n = this.rows.parent(n)) path.push(this.rows.budget(n));
    return path;
  }

  /** The decision a reservation would get now, without making it. */
  decide(node: Node, asked: Row): Decision {
    this.rows.alive(node);
    return decide(this.path(node), this.rows.amounts(asked.amounts), this.time(), this.dimensions);
  }

  /**
   * Books usage that stays inside what is held for it, on the whole path; `false` when it does not, and nothing is
   * booked. What ancestors hold for a budget is drawn down on the way.
   */
  private book(node: Node, used: Row, held: Float64Array, from: number): boolean {
    const { rows } = this;
    rows.told = false;
    let next = book(rows, node * rows.stride, used, held, from);
    if (next === EXCEEDED) return false;
    for (let below = node; next !== -1; ) {
      while (rows.parent(below) !== next / rows.stride) below = rows.parent(below) as Node;
      rows.drawn(below, used.amounts, this.held);
      below = next / rows.stride;
      next = book(rows, next, used, this.held, 0);
      if (next === EXCEEDED) {
        // The budget below has no limit here or has overdrawn it, so that its ancestors held less than it used.
        const released = sums(rows.amounts(this.held), this.dimensions);
        this.settleExactly(below, released, rows.amounts(used.amounts), false);
        return true;
      }
    }
    return true;
  }

  private reserveExactly(node: Node, asked: Row, expires: number, charged: boolean): Slot {
    this.rows.alive(node);
    const admission = reserve(this.path(node), this.rows.amounts(asked.amounts), this.time(), this.dimensions);
    this.write(node, admission.path);
    this.decision = admission.decision;
    admission.notices.forEach(this.tell);
    if (admission.decision.kind !== "admitted") return REFUSED;
    this.slots.asked.set(asked.amounts, this.slots.next());
    return this.slots.take(node, expires, charged, asked.further);
  }

  private settleSlot(slot: Slot, used: Deltas): void {
    const node = this.slots.leaf(slot);
    this.settleExactly(node, sums(this.rows.amounts(this.slots.row(slot)), this.dimensions), used, true);
    this.slots.free(slot);
  }

  private settleExactly(node: Node, released: Deltas, used: Deltas, closes: boolean): void {
    this.rows.alive(node);
    const settled = settle(this.path(node), released, used, this.time(), this.dimensions);
    this.write(node, closes ? closed(settled.path) : settled.path);
    settled.notices.forEach(this.tell);
  }

  private write(node: Node, path: Path): void {
    let n: Node | null = node;
    for (const budget of path) {
      if (n === null) return;
      this.rows.put(n, budget);
      n = this.rows.parent(n);
    }
  }

  private time(): Time {
    return { monotonic: this.rows.monotonic, instant: this.rows.instant };
  }
}
