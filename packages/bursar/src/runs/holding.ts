import type { Amounts } from "../core/amount.js";
import type { Path } from "../core/budget.js";
import { roomOf } from "../core/cut.js";
import { decide } from "../core/decision.js";
import { LedgerError } from "../core/errors.js";
import type { Operation } from "../core/operation.js";
import type { Timer } from "../ports/timer.js";
import { holderFor, type ProcessHolder } from "../runtime/process-holder.js";
import type { Desk } from "./desk.js";
import { freeFor } from "./free.js";
import type { RunRecord } from "./record.js";
import { sleep } from "./sleep.js";

/** How long to wait when all that is left is held by others. */
const AGAIN_MS = 50;

/** Nobody computes for longer at a time. What is held beyond that belongs to a run that was never taken up again. */
const LONGEST_MS = 25 * 60 * 60_000;

/** Amounts by dimension. */
type Figures = Readonly<Record<string, number>>;

/**
 * What a program computes with: all that is left of what it uses, held while it computes, so that nobody else uses the same. The
 * claim names the reservation, because whoever takes the run over has to give it back.
 */
export class Holding implements Disposable {
  private readonly desk: Desk;
  private readonly timer: Timer;
  private readonly run: RunRecord;
  /** This process as others know it, who settle the reservation when it has died; null where nobody could. */
  private readonly holder: ProcessHolder | null;
  private isHolding = false;
  /** Settled when the store knows that nothing is held any more for what was computed last. */
  private released: Promise<void> = Promise.resolve();
  private count = 0;
  /** How far the program had come when it began to compute. */
  private from: Figures = {};
  /** When it began to compute. */
  private since = 0;

  constructor(desk: Desk, timer: Timer, run: RunRecord) {
    this.desk = desk;
    this.timer = timer;
    this.run = run;
    this.holder = holderFor(desk, timer);
  }

  /** Nothing more is computed here. */
  [Symbol.dispose](): void {
    this.letGo();
  }

  private letGo(): void {
    if (this.isHolding) this.holder?.end();
    this.isHolding = false;
  }

  /** Gives back what a worker that is gone has held. */
  async giveBackLeft(): Promise<void> {
    const { hold: call } = this.desk;
    if (call === null) return;
    this.desk.hold = null;
    this.letGo();
    await this.desk.apply([{ op: "release", call }]).catch((error: unknown) => {
      // It had not been admitted.
      if (!(error instanceof LedgerError)) throw error;
    });
  }

  /**
   * How much there is to compute with, held from now on; null when nothing is left of the dimension that it cannot do without,
   * and not only held by others. What it has paid for it may do again: `used` says how far it has come. Where it is `alone`,
   * nobody else can use what it may write, which is not held then.
   */
  async take(
    dimension: string,
    used: Figures,
    { isOver, alone }: { readonly isOver: () => Promise<boolean>; readonly alone: () => boolean },
  ): Promise<Figures | null> {
    const { desk, run } = this;
    // A peak is not used up, so that nothing of it is held, nor was paid for before.
    const sums = Object.keys(used).filter((id) => !this.isPeak(id));
    this.from = Object.fromEntries(sums.map((id) => [id, used[id] ?? 0]));
    const again = (id: string) => Math.max(0, (desk.computed[id] ?? 0) - (used[id] ?? 0));
    for (;;) {
      // What is still held for its own last computation would be missing from what is free.
      await this.released;
      const path = await desk.path(run.budget);
      const free = this.freeIn(path, sums);
      const all = this.freeIn(path, Object.keys(used));
      const most = (held: Figures) => {
        this.since = desk.clock.now().monotonic;
        return { ...all, ...Object.fromEntries(sums.map((id) => [id, (held[id] ?? free[id] ?? 0) + again(id)])) };
      };
      const left = free[dimension] ?? 0;
      if (left === Number.POSITIVE_INFINITY && path.length === 1 && run.budget === run.id && alone()) return most({});
      // With nothing at all, because others hold it, it could not do what it may: it rather waits.
      const wait = Object.keys(free).some((id) => free[id] === 0 && this.roomIn(path, id) > 0);
      const held = left > 0 && !wait ? await this.reserve(free) : null;
      const over = left <= 0 || held?.[dimension] === 0;
      if (held !== null && !over) return most(held);
      // What it has paid for it may do again, and if that was all that it needs, it comes to its end.
      if (over && again(dimension) > 0 && (await this.isUsedUp(dimension))) return most({ [dimension]: 0 });
      if (over && (await isOver())) return null;
      await this.wait();
    }
  }

  /** Waits for a moment; throws when the run is not ours any more, because then nobody else does. */
  private async wait(): Promise<void> {
    await sleep(this.timer, AGAIN_MS);
    if (this.desk.lost !== null) throw this.desk.lost;
  }

  private isPeak(id: string): boolean {
    const { dimensions } = this.desk;
    return dimensions.has(id) && dimensions.get(id).kind === "peak";
  }

  private freeIn(path: Path, ids: readonly string[]): Figures {
    const { clock, dimensions } = this.desk;
    return Object.fromEntries(ids.map((id) => [id, freeFor(path, id, clock.now(), dimensions)]));
  }

  private roomIn(path: Path, id: string): number {
    return roomOf(path, id, this.desk.clock.now(), this.desk.dimensions);
  }

  /** Whether nothing is left of a dimension, and nothing comes back that others hold. */
  private async isUsedUp(dimension: string): Promise<boolean> {
    const { desk, run } = this;
    const { findings } = decide(await desk.path(run.budget), {}, desk.clock.now(), desk.dimensions);
    return findings.some((finding) => finding.dimension === dimension && finding.refusal === "exhausted");
  }

  /**
   * Writes, when the computation is over, what it used, and that nothing is held for it any more. What it has done again was
   * charged before.
   */
  done(name: string, used: Figures): void {
    const { desk, from } = this;
    const { budget, id } = this.run;
    const computed = { ...desk.computed };
    const amounts: Record<string, number> = {};
    for (const [each, amount] of Object.entries(used)) {
      const at = (from[each] ?? 0) + amount;
      const more = from[each] === undefined ? amount : at - Math.max(from[each], computed[each] ?? 0);
      if (from[each] !== undefined) computed[each] = Math.max(at, computed[each] ?? 0);
      if (more > 0 && desk.dimensions.has(each)) amounts[each] = more;
    }
    const operations: Operation[] = [];
    // First, so that the record of what was used does not count what was held for it as still held.
    const { hold } = desk;
    if (hold !== null) operations.push({ op: "release", call: hold });
    if (Object.keys(amounts).some((each) => from[each] !== undefined)) {
      const duration_ms = Math.max(0, Math.round(desk.clock.now().monotonic - this.since));
      const charge = { call: `${id}/${name}`, used: amounts as Amounts, capability_id: "sandbox", duration_ms };
      operations.push({ op: "charge", budget, ...charge });
    }
    desk.hold = null;
    this.letGo();
    desk.charge(operations, computed);
    // Others may wait for what was held, and the program may have nothing more to say.
    if (hold !== null) this.released = desk.written().catch(() => {});
  }

  /** Holds all that is free of what is limited; null when others hold some of it. */
  private async reserve(free: Figures): Promise<Figures | null> {
    const { desk, run } = this;
    const asked = Object.fromEntries(Object.entries(free).filter(([, amount]) => Number.isFinite(amount))) as Amounts;
    const ids = Object.keys(asked);
    if (ids.length === 0) return {};
    // Somebody may have used some of it since it was looked at.
    const least = Object.fromEntries(ids.map((id) => [id, 0])) as Amounts;
    const call = `${run.id}/hold ${this.count++}@${desk.epoch}`;
    desk.hold = call;
    const held = this.holder === null ? {} : { holder: this.holder.id };
    const terms = { budget: run.budget, call, kind: "code", capability_id: "sandbox", ...held } as const;
    const expires = desk.clock.now().instant + LONGEST_MS;
    this.holder?.begin();
    this.isHolding = true;
    const [{ decision, granted }] = await desk.apply([{ op: "reserve", ...terms, asked, least, expires }]);
    if (decision.kind === "admitted") return granted;
    desk.hold = null;
    this.letGo();
    if (decision.kind === "busy") return null;
    // Where something has run out nobody gets anything, so that nothing need be held of the rest.
    const none = Object.fromEntries(decision.findings.map(({ dimension }) => [dimension, 0]));
    return { ...granted, ...none };
  }
}
