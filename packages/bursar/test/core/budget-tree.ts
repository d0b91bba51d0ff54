import type { Amounts } from "../../src/core/amount.js";
import type { Budget, BudgetId, Path } from "../../src/core/budget.js";
import { endBudget, type Opened, type Opening, openBudget } from "../../src/core/children.js";
import { type Decision, decide } from "../../src/core/decision.js";
import type { Dimensions } from "../../src/core/dimensions.js";
import { type Extended, extendBudget } from "../../src/core/extension.js";
import type { Notice } from "../../src/core/notice.js";
import { closed, type Deltas, reserve, settle } from "../../src/core/settlement.js";
import { paused, resumed, type Time } from "../../src/core/time.js";

interface Reservation {
  readonly budget: BudgetId;
  readonly asked: Amounts;
  readonly expires: number;
  /** What is charged when it expires: all of what was asked for, or nothing. */
  readonly charged: boolean;
}

/** Whether a call was let in; `number` is that of its reservation, in the order in which they were made. */
export interface Reserved {
  readonly decision: Decision;
  readonly number: number | null;
}

/** A tree of budgets in memory, on nothing but the functions of the core: no calls, no chain, no store. */
export class BudgetTree {
  private readonly budgets = new Map<BudgetId, Budget>();
  /** Those that are settled are null. */
  private readonly reservations: (Reservation | null)[] = [];
  private readonly dimensions: Dimensions;
  private readonly tell: (notice: Notice) => void;
  private time: Time = { instant: 0, monotonic: 0 };

  constructor(dimensions: Dimensions, tell: (notice: Notice) => void = () => {}) {
    this.dimensions = dimensions;
    this.tell = tell;
  }

  /** Passes both clocks in. Running time seen here never goes back. */
  at({ instant, monotonic }: Time): void {
    this.time = { instant, monotonic: Math.max(monotonic, this.time.monotonic) };
  }

  open(parent: BudgetId | null, opening: Opening): Opened {
    const opened = openBudget(parent === null ? [] : this.path(parent), opening, this.time, this.dimensions);
    this.write(opened.path, opened.notices);
    if (opened.budget !== null) this.write([opened.budget]);
    return opened;
  }

  reserve(id: BudgetId, asked: Amounts, expires: number = Number.POSITIVE_INFINITY, charged = true): Reserved {
    const { decision, path, notices } = reserve(this.path(id), asked, this.time, this.dimensions);
    this.write(path, notices);
    if (decision.kind !== "admitted") return { decision, number: null };
    return { decision, number: this.reservations.push({ budget: id, asked, expires, charged }) - 1 };
  }

  /** Replaces a reservation by what was used. */
  commit(number: number, used: Amounts): void {
    const reservation = this.reservations[number];
    if (!reservation) throw new Error(`reservation ${number} is unknown or settled already`);
    this.reservations[number] = null;
    const released = this.dimensions.sumsOf(reservation.asked);
    const { path, notices } = settle(this.path(reservation.budget), released, used, this.time, this.dimensions);
    this.write(closed(path), notices);
  }

  /** Settles the reservations whose instant has come, and says how many there were. */
  sweep(): number {
    const due = this.reservations.flatMap((each, number) =>
      each && each.expires <= this.time.instant ? [{ ...each, number }] : [],
    );
    for (const { number, charged, asked } of due) this.commit(number, charged ? asked : {});
    return due.length;
  }

  /** Records usage that was never reserved, or corrects what was charged; without any, what time alone has brought about. */
  charge(id: BudgetId, used: Deltas): void {
    const { path, notices } = settle(this.path(id), {}, used, this.time, this.dimensions);
    this.write(path, notices);
  }

  extend(id: BudgetId, additional: Amounts): Extended {
    const extended = extendBudget(this.path(id), additional, this.time, this.dimensions);
    if (extended.kind === "extended") this.write(extended.path);
    return extended;
  }

  pause(id: BudgetId): void {
    const budget = this.budget(id);
    this.write([{ ...budget, watch: paused(budget.watch, this.time) }]);
  }

  resume(id: BudgetId): void {
    const budget = this.budget(id);
    this.write([{ ...budget, watch: resumed(budget.watch, this.time) }]);
  }

  end(id: BudgetId): void {
    this.write(endBudget(this.path(id), this.time, this.dimensions));
  }

  decide(id: BudgetId, asked: Amounts): Decision {
    return decide(this.path(id), asked, this.time, this.dimensions);
  }

  budget(id: BudgetId): Budget {
    const budget = this.budgets.get(id);
    if (budget === undefined) throw new Error(`there is no budget ${id}`);
    return budget;
  }

  path(id: BudgetId): Path {
    const budget = this.budget(id);
    return budget.parent === null ? [budget] : [budget, ...this.path(budget.parent)];
  }

  private write(path: Path, notices: readonly Notice[] = []): void {
    for (const budget of path) this.budgets.set(budget.id, budget);
    notices.forEach(this.tell);
  }
}
