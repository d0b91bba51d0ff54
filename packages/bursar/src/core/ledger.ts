import { Advances, OPENED } from "./advances.js";
import type { Amounts } from "./amount.js";
import type { Budget, Path } from "./budget.js";
import { endBudget, type Opened, type Opening, openBudget } from "./children.js";
import { type Decision, decide } from "./decision.js";
import type { Dimensions } from "./dimensions.js";
import { LedgerError } from "./errors.js";
import { type Extended, extendBudget } from "./extension.js";
import { book, take } from "./kernel.js";
import type { Notice } from "./notice.js";
import type { Row } from "./row.js";
import { Rows } from "./rows.js";
import { closed, type Deltas, reserve, settle, sums } from "./settlement.js";
import { ASKED, Slots } from "./slots.js";
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
 * in advances: a call that fits and a settlement that has nothing to tell. Everything else is handed to those functions
 * and their answer written back. Call ids, and so exactly-once, are the business of whoever owns it.
 */
export class Ledger {
  readonly dimensions: Dimensions;
  /** The answer to the latest `reserve`. */
  decision: Decision = ADMITTED;
  private readonly rows: Rows;
  private readonly advances: Advances;
  private readonly slots: Slots;
  private readonly tell: (notice: Notice) => void;
  private readonly nothing: Row;
  /** The usage of a reservation that has expired. */
  private readonly expired: Row;

  constructor(dimensions: Dimensions, tell: (notice: Notice) => void = () => {}) {
    this.dimensions = dimensions;
    this.rows = new Rows(dimensions);
    this.advances = new Advances(this.rows);
    this.slots = new Slots(this.rows.columns.length);
    this.nothing = this.rows.row({});
    this.expired = this.rows.row({});
    this.tell = tell;
  }

  /** Passes both clocks in. Running time seen here never goes back. */
  at(time: Time): void {
    if (time.monotonic > this.advances.monotonic) this.advances.monotonic = time.monotonic;
    this.advances.instant = time.instant;
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
    if (parent !== null) this.write(parent, above, opened.path);
    const node = opened.budget === null ? REFUSED : this.add(opened.budget, parent);
    opened.notices.forEach(this.tell);
    return { ...opened, node };
  }

  /** All of the row along the path, or none of it and `REFUSED`. Unless told otherwise it is charged when it expires. */
  reserve(node: Node, asked: Row, expires: number = Number.POSITIVE_INFINITY, charged = true): Slot {
    const { advances, slots } = this;
    const at = node * advances.stride;
    const to = slots.next() + ASKED;
    if (!take(advances, at, asked, slots.cells, to)) {
      this.rows.alive(node);
      const fits = advances.renew(node, asked.amounts) && take(advances, at, asked, slots.cells, to);
      if (!fits) return this.reserveExactly(node, asked, expires, charged);
    }
    advances.cells[at + OPENED] = (advances.cells[at + OPENED] as number) + 1;
    this.decision = ADMITTED;
    return slots.take(node, expires, charged, asked.further);
  }

  /** Replaces a reservation by what was used. */
  commit(slot: Slot, used: Row): void {
    const { advances, slots } = this;
    const node = slots.leaf(slot);
    const at = node * advances.stride;
    const from = slot * slots.stride + ASKED;
    const further = used.further || slots.isFurther(slot);
    if (!book(advances, at, used.amounts, slots.cells, from, further)) {
      const quick = advances.renew(node, used.amounts) && book(advances, at, used.amounts, slots.cells, from, further);
      if (!quick) {
        this.commitExactly(slot, used);
        return;
      }
    }
    advances.cells[at + OPENED] = (advances.cells[at + OPENED] as number) - 1;
    slots.free(slot);
  }

  /** Gives a reservation back: nothing is charged. */
  release(slot: Slot): void {
    this.commit(slot, this.nothing);
  }

  /** Settles a reservation whose holder has died, by the kind of its call. */
  expire(slot: Slot): void {
    this.slots.leaf(slot);
    this.expired.amounts.set(this.slots.asked(slot));
    this.commit(slot, this.slots.isCharged(slot) ? this.expired : this.nothing);
  }

  /** Expires every reservation whose instant has come, and says how many there were. */
  sweep(): number {
    const due = this.slots.due(this.advances.instant);
    for (const slot of due) this.expire(slot);
    return due.length;
  }

  /** Records usage that was never reserved. It is the truth, so it is never refused. */
  charge(node: Node, used: Row): void {
    const { advances, nothing, rows } = this;
    const { amounts, further } = used;
    const at = node * advances.stride;
    if (book(advances, at, amounts, nothing.amounts, 0, further)) return;
    rows.alive(node);
    if (advances.renew(node, amounts) && book(advances, at, amounts, nothing.amounts, 0, further)) return;
    this.settleExactly(node, {}, rows.amounts(amounts), null);
  }

  /** Corrects what was charged, in either direction, when the truth arrives late. */
  correct(node: Node, deltas: Deltas): void {
    this.settleExactly(node, {}, deltas, null);
  }

  extend(node: Node, additional: Amounts): Extended {
    const path = this.path(node);
    const extended = extendBudget(path, additional, this.time(), this.dimensions);
    if (extended.kind === "extended") this.write(node, path, extended.path);
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
    this.settleExactly(node, {}, {}, null);
  }

  end(node: Node): void {
    const path = this.path(node);
    this.write(node, path, endBudget(path, this.time(), this.dimensions));
  }

  /** Forgets a budget that has ended, so that its row can serve again. */
  recycle(node: Node): void {
    const { id, ended } = this.budget(node);
    if (!ended) throw new LedgerError(`budget ${id} has not ended yet`);
    this.rows.remove(node);
  }

  /** The budget as a value. */
  budget(node: Node): Budget {
    this.rows.known(node);
    this.advances.putBack(node);
    return this.rows.budget(node);
  }

  /** The budget and its ancestors as values, leaf first. */
  path(node: Node): Path {
    this.rows.known(node);
    this.advances.putBack(node);
    const path: Budget[] = [];
    for (let n: Node | null = node; n !== null; n = this.rows.parent(n)) path.push(this.rows.budget(n));
    return path;
  }

  /** The decision a reservation would get now, without making it. */
  decide(node: Node, asked: Row): Decision {
    this.rows.alive(node);
    return decide(this.path(node), this.rows.amounts(asked.amounts), this.time(), this.dimensions);
  }

  private add(budget: Budget, parent: Node | null): Node {
    const node = this.rows.add(budget, parent);
    this.advances.add(node);
    return node;
  }

  private reserveExactly(node: Node, asked: Row, expires: number, charged: boolean): Slot {
    const path = this.path(node);
    const admission = reserve(path, this.rows.amounts(asked.amounts), this.time(), this.dimensions);
    this.write(node, path, admission.path);
    let slot = REFUSED;
    if (admission.decision.kind === "admitted") {
      this.slots.cells.set(asked.amounts, this.slots.next() + ASKED);
      slot = this.slots.take(node, expires, charged, asked.further);
    }
    admission.notices.forEach(this.tell);
    this.decision = admission.decision;
    return slot;
  }

  private commitExactly(slot: Slot, used: Row): void {
    const { rows, slots, dimensions } = this;
    const released = sums(rows.amounts(slots.asked(slot)), dimensions);
    this.settleExactly(slots.leaf(slot), released, rows.amounts(used.amounts), slot);
  }

  private settleExactly(node: Node, released: Deltas, used: Deltas, slot: Slot | null): void {
    this.rows.alive(node);
    const path = this.path(node);
    const settled = settle(path, released, used, this.time(), this.dimensions);
    this.write(node, path, slot === null ? settled.path : closed(settled.path));
    if (slot !== null) this.slots.free(slot);
    // Last, because whoever is told may call the ledger again, or throw.
    settled.notices.forEach(this.tell);
  }

  /** Writes what has changed of a path. */
  private write(node: Node, before: Path, after: Path): void {
    let n: Node | null = node;
    for (let level = 0; n !== null; level++) {
      const budget = after[level];
      if (budget !== undefined && budget !== before[level]) this.rows.put(n, budget);
      n = this.rows.parent(n);
    }
  }

  private time(): Time {
    return { monotonic: this.advances.monotonic, instant: this.advances.instant };
  }
}
