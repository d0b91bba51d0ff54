import type { Clock } from "../../ports/clock.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import type { Bound, Price } from "./price.js";
import { dearestInput, dearestOutput, MILLION, sumOf } from "./rates.js";
import { type Period, periodAt, periodsAround, type Schedule } from "./schedule.js";

export interface ScheduledPriceOptions {
  readonly model: string;
  readonly source: Price["source"];
  readonly context_window: number | null;
  readonly schedule: Schedule;
  /** Whether the provider may write input into a cache, and bill that, without having been asked to. */
  readonly writes_unasked: boolean;
  readonly clock: Clock;
}

/** The price of one model, which may depend on how much goes in and on the time. */
export class ScheduledPrice implements Price {
  readonly model: string;
  readonly source: Price["source"];
  readonly context_window: number | null;
  private readonly schedule: Schedule;
  private readonly writes_unasked: boolean;
  private readonly clock: Clock;
  private readonly known = new Map<string, readonly Stretch[]>();

  constructor({ model, source, context_window, schedule, writes_unasked, clock }: ScheduledPriceOptions) {
    this.model = model;
    this.source = source;
    this.context_window = context_window;
    this.schedule = schedule;
    this.writes_unasked = writes_unasked;
    this.clock = clock;
  }

  cost(counts: TokenCounts): bigint {
    const { bands, per_call } = periodAt(this.schedule, this.clock.now().instant);
    const { rates } = bands.findLast(({ above }) => counts.input > above) ?? bands[0];
    return roundedUp(per_call + sumOf(rates, counts));
  }

  most(bound: Bound): bigint {
    const output = BigInt(bound.output);
    return roundedUp(
      this.corners(bound).reduce((most, { before, each }) => {
        const sum = before + output * each;
        return sum > most ? sum : most;
      }, 0n),
    );
  }

  affordable(nano: bigint, bound: Omit<Bound, "output">): number {
    const money = nano * MILLION;
    let fits = BigInt(Number.MAX_SAFE_INTEGER);
    for (const { before, each } of this.corners(bound)) {
      if (before > money) return 0;
      if (each === 0n) continue;
      const here = (money - before) / each;
      if (here < fits) fits = here;
    }
    return Number(fits);
  }

  /**
   * Where a call within the bound can be dearest: at the upper end of each band of each period. Usually the last band is the one,
   * but nobody has promised that more input never costs less.
   */
  private corners(bound: Omit<Bound, "output">): readonly Corner[] {
    const { input } = bound;
    const corners: Corner[] = [];
    for (const { above, top, per_call, each_input, each_output } of this.stretches(bound)) {
      if (above > 0 && above >= input) continue;
      corners.push({ before: per_call + BigInt(Math.min(input, top)) * each_input, each: each_output });
    }
    return corners;
  }

  /** What each band comes to at most. Most prices never change, and are asked for with every call. */
  private stretches(bound: Omit<Bound, "output">): readonly Stretch[] {
    if (this.schedule.length > 1) {
      return periodsAround(this.schedule, this.clock.now().instant).flatMap((period) => this.stretched(period, bound));
    }
    const key = `${bound.caches} ${bound.audio}`;
    const known = this.known.get(key) ?? this.schedule.flatMap((period) => this.stretched(period, bound));
    this.known.set(key, known);
    return known;
  }

  private stretched(period: Period, bound: Omit<Bound, "output">): readonly Stretch[] {
    return period.bands.map(({ above, rates }, index) => {
      if (bound.audio && rates.input_audio === null) {
        throw new UnboundedError("audio", `has no price for the model ${this.model}; leave it out, or state the price`);
      }
      return {
        above: index === 0 ? 0 : above,
        top: period.bands[index + 1]?.above ?? Number.POSITIVE_INFINITY,
        per_call: period.per_call,
        each_input: dearestInput(rates, bound, this.writes_unasked),
        each_output: dearestOutput(rates, bound.audio),
      };
    });
  }
}

/** One band of input, with the dearest that a token in it can be. */
interface Stretch {
  /** It begins above so many tokens, and ends with so many. */
  readonly above: number;
  readonly top: number;
  readonly per_call: bigint;
  readonly each_input: bigint;
  readonly each_output: bigint;
}

/** What a call costs before it answers, and what each token of its answer costs. */
interface Corner {
  readonly before: bigint;
  readonly each: bigint;
}

/** A budget may be charged a billionth too much, never too little. */
function roundedUp(sum: bigint): bigint {
  return (sum + MILLION - 1n) / MILLION;
}
