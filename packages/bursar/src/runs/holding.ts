import type { Amounts } from "../core/amount.js";
import { decide } from "../core/decision.js";
import { LedgerError } from "../core/errors.js";
import type { Operation } from "../core/operation.js";
import type { Timer } from "../ports/timer.js";
import type { Desk } from "./desk.js";
import { freeFor } from "./free.js";
import type { RunRecord } from "./record.js";

/** How long to wait when all that is left is held by others. */
const AGAIN_MS = 50;

/**
 * What a program computes with: all that is left of a dimension, held while it computes, so that nobody else uses the same. The
 * claim names the reservation, because whoever takes the run over has to give it back.
 */
export class Holding {
  private readonly desk: Desk;
  private readonly timer: Timer;
  private readonly run: RunRecord;
  private count = 0;
  /** What the run had used when it was taken up: its program does that part again, and it is charged once. */
  private readonly paid = new Map<string, number>();

  constructor(desk: Desk, timer: Timer, run: RunRecord) {
    this.desk = desk;
    this.timer = timer;
    this.run = run;
  }

  /** Gives back what a worker that is gone has held. */
  async giveBackLeft(): Promise<void> {
    const { hold: call } = this.desk;
    if (call === null) return;
    this.desk.hold = null;
    await this.desk.apply([{ op: "release", call }]).catch((error: unknown) => {
      // It had not been admitted.
      if (!(error instanceof LedgerError)) throw error;
    });
  }

  /** What a program may use in all from its beginning on. */
  async whole(dimension: string): Promise<number> {
    const paid = await this.paidFor(dimension);
    return paid + (await freeFor(this.desk, this.run.budget, dimension));
  }

  private async paidFor(dimension: string): Promise<number> {
    const known = this.paid.get(dimension);
    if (known !== undefined) return known;
    const budget = await this.desk.budget(this.run.budget);
    // In the first claim of a run whatever was used is somebody else's.
    const paid = this.desk.epoch === 1 ? 0 : (budget?.used[dimension] ?? 0);
    this.paid.set(dimension, paid);
    return paid;
  }

  /** How much there is to compute with, held from now on; null when nothing is left, and not only held by others. */
  async take(dimension: string, used: number, isOver: () => Promise<boolean>): Promise<number | null> {
    const { desk, run } = this;
    const again = Math.max(0, (await this.paidFor(dimension)) - used);
    for (;;) {
      const most = await freeFor(desk, run.budget, dimension);
      if (most === Number.POSITIVE_INFINITY) return most;
      if (most > 0 && (await this.reserve(dimension, most))) return most + again;
      // What it has paid for it may do again, and if that was all that it needs, it comes to its end.
      if (most <= 0 && again > 0 && (await this.isUsedUp(dimension))) return again;
      if (most <= 0 && (await isOver())) return null;
      await new Promise<void>((resolve) => void this.timer.after(AGAIN_MS, resolve));
    }
  }

  /** Whether nothing is left of a dimension, and nothing comes back that others hold. */
  private async isUsedUp(dimension: string): Promise<boolean> {
    const { desk, run } = this;
    const { findings } = decide(await desk.path(run.budget), {}, desk.clock.now(), desk.dimensions);
    return findings.some((finding) => finding.dimension === dimension && finding.refusal === "exhausted");
  }

  /** What is written when the computation is over: what it used, and that nothing is held for it any more. */
  done(name: string, used: Readonly<Record<string, number>>): readonly Operation[] {
    const { budget, id } = this.run;
    const counted = Object.entries(used).filter(([each, amount]) => amount > 0 && this.desk.dimensions.has(each));
    const operations: Operation[] = [];
    if (counted.length > 0) {
      const amounts = Object.fromEntries(counted) as Amounts;
      operations.push({ op: "charge", budget, call: `${id}/${name}`, used: amounts, capability_id: "sandbox" });
    }
    if (this.desk.hold !== null) operations.push({ op: "release", call: this.desk.hold });
    this.desk.hold = null;
    return operations;
  }

  private async reserve(dimension: string, most: number): Promise<boolean> {
    const { desk, run } = this;
    const call = `${run.id}/hold ${this.count++}@${desk.epoch}`;
    const asked = { [dimension]: most } as Amounts;
    desk.hold = call;
    const reserve = { op: "reserve", budget: run.budget, call, kind: "code", asked, capability_id: "sandbox" } as const;
    const [{ decision }] = await desk.apply([reserve]);
    if (decision.kind === "admitted") return true;
    desk.hold = null;
    return false;
  }
}
