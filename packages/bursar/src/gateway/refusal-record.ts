import type { Amounts } from "../core/amount.js";
import type { BudgetId } from "../core/budget.js";
import type { Decision } from "../core/decision.js";
import { LedgerError } from "../core/errors.js";
import { Events, type RefusedSteps } from "../core/events.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import { newName } from "../runtime/names.js";

/** A call that was refused, with what is known of it. */
export interface RefusedCall {
  readonly store: Store;
  /** The budget that would have paid. */
  readonly budget: BudgetId;
  /** Null where no key was shown. */
  readonly key_id: string | null;
  readonly capability_id: string;
  readonly decision: Decision;
}

export interface RefusalRecordOptions {
  readonly timer: Timer;
  readonly onError: (error: unknown) => void;
}

/** Refusals of one key for one reason. */
interface Series extends RefusedCall {
  /** Null where the store did not take its link. */
  first_step: string | null;
  /** Those since the last link. */
  count: number;
  first: number;
  last: number;
  alarm: Disposable;
}

/** A series that goes on writes a link so often. After so long without a refusal the next one has a link of its own again. */
const EVERY_MS = 60_000;

/**
 * Writes the refusals of a gateway's keys into their chains: the first of each key and reason at once, with all that is known of it,
 * and those that follow as a number in one link a minute. A flood of refused calls would fill the store otherwise.
 */
export class RefusalRecord {
  private readonly options: RefusalRecordOptions;
  private readonly series = new Map<string, Series>();
  private readonly writing = new Set<Promise<void>>();
  /** How many series each key has. */
  private readonly keys = new Map<string, number>();

  constructor(options: RefusalRecordOptions) {
    this.options = options;
  }

  /** Whether the first refusal of a key for this reason is on record, so that the next one is only counted. */
  isCounting(call: Pick<RefusedCall, "budget" | "key_id" | "decision">): boolean {
    return this.series.has(reasonOf(call));
  }

  /** Whether the refusals of a key are being counted, whatever the reason. */
  isCountingFor({ budget, key_id }: Pick<RefusedCall, "budget" | "key_id">): boolean {
    return this.keys.has(keyOf({ budget, key_id }));
  }

  /** Records a refusal, or counts it. A store that fails does not keep the client from its answer. */
  async note(call: RefusedCall): Promise<void> {
    const reason = reasonOf(call);
    const known = this.series.get(reason);
    const { instant } = call.store.clock.now();
    if (known !== undefined) {
      if (known.count === 0) known.first = instant;
      known.count++;
      known.last = instant;
      return;
    }
    const first_step = newName(instant);
    const begun: Series = { ...call, first_step, count: 0, first: instant, last: instant, alarm: this.later(reason) };
    this.series.set(reason, begun);
    const key = keyOf(call);
    this.keys.set(key, (this.keys.get(key) ?? 0) + 1);
    const { store, budget, capability_id, decision } = call;
    const step = { step_id: first_step, capability_id };
    const action = new Events(store.dimensions).stepRefused(budget, step, askedIn(decision), decision);
    try {
      await store.apply([{ op: "record", budget, action }]);
    } catch (error) {
      this.options.onError(error);
      begun.first_step = null;
      this.putBack(begun, { count: 1, first: instant, last: instant }, error);
    }
  }

  /** Writes what was counted. */
  async flush(): Promise<void> {
    for (const [reason, series] of this.series) {
      this.forget(reason);
      if (series.count > 0) this.write(series);
    }
    await Promise.all(this.writing);
  }

  private later(reason: string): Disposable {
    return this.options.timer.after(EVERY_MS, () => {
      const series = this.series.get(reason);
      if (series === undefined) return;
      if (series.count === 0) {
        this.forget(reason);
        return;
      }
      this.write(series);
      series.alarm = this.later(reason);
    });
  }

  private forget(reason: string): void {
    const series = this.series.get(reason);
    if (series === undefined) return;
    series.alarm[Symbol.dispose]();
    this.series.delete(reason);
    const key = keyOf(series);
    const left = (this.keys.get(key) ?? 1) - 1;
    if (left === 0) this.keys.delete(key);
    else this.keys.set(key, left);
  }

  private write(series: Series): void {
    const { store, budget, decision, key_id, first_step, count, first, last } = series;
    const counted: RefusedSteps = { first_step, key_id, count, first, last };
    const action = new Events(store.dimensions).stepsRefused(budget, counted, decision);
    series.count = 0;
    const written = store
      .apply([{ op: "record", budget, action }])
      .then(
        () => {},
        (error: unknown) => {
          this.options.onError(error);
          this.putBack(series, counted, error);
        },
      )
      .finally(() => this.writing.delete(written));
    this.writing.add(written);
  }

  /** What the store did not take is counted again, and written a minute later; not where the budget is no more. */
  private putBack(
    series: Series,
    { count, first, last }: Pick<RefusedSteps, "count" | "first" | "last">,
    error: unknown,
  ) {
    if (error instanceof LedgerError) return;
    if (series.count === 0) series.last = last;
    series.first = first;
    series.count += count;
  }
}

function keyOf({ budget, key_id }: Pick<RefusedCall, "budget" | "key_id">): string {
  return JSON.stringify([budget, key_id]);
}

/** A budget that was extended and is used up again is another reason. */
function reasonOf({ budget, key_id, decision }: Pick<RefusedCall, "budget" | "key_id" | "decision">): string {
  const [worst] = decision.findings;
  return JSON.stringify([budget, key_id, decision.kind, worst?.budget, worst?.dimension, worst?.refusal, worst?.limit]);
}

/** What the call had asked for of the dimensions that did not take it. */
function askedIn({ findings }: Decision): Amounts {
  return Object.fromEntries(findings.map(({ dimension, asked }) => [dimension, asked])) as Amounts;
}
