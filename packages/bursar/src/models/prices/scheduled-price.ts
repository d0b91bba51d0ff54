import type { Clock } from "../../ports/clock.js";
import { costOfUses } from "../wire/hosted-tools.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import type { Bound, Price } from "./price.js";
import { dearestInput, dearestOutput, MILLION, sumOf } from "./rates.js";
import { type Period, periodAt, periodsAround, type Schedule } from "./schedule.js";

const MILLIONTHS = Number(MILLION);
/** What is added before a quotient that is to be rounded up. */
const ALL_BUT_ONE = MILLIONTHS - 1;

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
  private readonly known: Record<"text" | "audio", Known> = { text: new Known(), audio: new Known() };

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
    const nano = roundedUp(per_call + sumOf(rates, counts));
    return counts.tool_uses === undefined ? nano : nano + costOfUses(counts.tool_uses);
  }

  most(bound: Bound): bigint {
    const { tools_nano } = bound;
    return tools_nano === undefined ? this.mostOfTokens(bound) : tools_nano + this.mostOfTokens(bound);
  }

  private mostOfTokens(bound: Bound): bigint {
    const { input, output } = bound;
    if (!isAmount(input) || !isAmount(output)) return this.mostExactly(bound);
    let most = 0;
    for (const { above, top, small } of this.stretches(bound)) {
      if (above > 0 && above >= input) continue;
      const { per_call, each_input, each_output } = small;
      most = Math.max(most, per_call + Math.min(input, top) * each_input + output * each_output);
    }
    const raised = most + ALL_BUT_ONE;
    return isAmount(raised) ? BigInt(quotient(raised, MILLIONTHS)) : this.mostExactly(bound);
  }

  private mostExactly(bound: Bound): bigint {
    const output = BigInt(bound.output);
    return roundedUp(
      this.corners(bound).reduce((most, { before, each }) => {
        const sum = before + output * each;
        return sum > most ? sum : most;
      }, 0n),
    );
  }

  affordable(money: bigint, bound: Omit<Bound, "output">): number {
    const { tools_nano = 0n } = bound;
    return money < tools_nano ? 0 : this.affordableTokens(money - tools_nano, bound);
  }

  private affordableTokens(nano: bigint, bound: Omit<Bound, "output">): number {
    const { input } = bound;
    const money = Number(nano) * MILLIONTHS;
    if (!isAmount(money) || !isAmount(input)) return this.affordableExactly(nano, bound);
    let fits = Number.MAX_SAFE_INTEGER;
    for (const { above, top, small } of this.stretches(bound)) {
      if (above > 0 && above >= input) continue;
      const { per_call, each_input, each_output } = small;
      const before = per_call + Math.min(input, top) * each_input;
      // Nothing of what is too large to be exact is affordable with money that is not.
      if (before > money) return 0;
      if (each_output !== 0) fits = Math.min(fits, quotient(money - before, each_output));
    }
    return fits;
  }

  private affordableExactly(nano: bigint, bound: Omit<Bound, "output">): number {
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
    const known = bound.audio ? this.known.audio : this.known.text;
    known[bound.caches] ??= this.schedule.flatMap((period) => this.stretched(period, bound));
    return known[bound.caches] as readonly Stretch[];
  }

  private stretched(period: Period, bound: Omit<Bound, "output">): readonly Stretch[] {
    return period.bands.map(({ above, rates }, index) => {
      if (bound.audio && rates.input_audio === null) {
        throw new UnboundedError("audio", `has no price for the model ${this.model}; leave it out, or state the price`);
      }
      const { per_call } = period;
      const each_input = dearestInput(rates, bound, this.writes_unasked);
      const each_output = dearestOutput(rates, bound.audio);
      return {
        above: index === 0 ? 0 : above,
        top: period.bands[index + 1]?.above ?? Number.POSITIVE_INFINITY,
        per_call,
        each_input,
        each_output,
        small: { per_call: Number(per_call), each_input: Number(each_input), each_output: Number(each_output) },
      };
    });
  }
}

/** What the bands come to, for each way in which input may be written to a cache; null as long as nobody has asked. */
class Known implements Record<Bound["caches"], readonly Stretch[] | null> {
  no: readonly Stretch[] | null = null;
  "5m": readonly Stretch[] | null = null;
  "1h": readonly Stretch[] | null = null;
}

/** One band of input, with the dearest that a token in it can be. */
interface Stretch {
  /** It begins above so many tokens, and ends with so many. */
  readonly above: number;
  readonly top: number;
  readonly per_call: bigint;
  readonly each_input: bigint;
  readonly each_output: bigint;
  readonly small: Small;
}

/**
 * The same as numbers, which add up calls of ordinary size in a tenth of the time. Nothing is below zero, and what is too large for a number
 * to be exact is rounded to something that is too large as well: a sum that is safe has only safe parts, and is exact.
 */
interface Small {
  readonly per_call: number;
  readonly each_input: number;
  readonly each_output: number;
}

function isAmount(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

/** How often one goes into another, if both are safe: what is left over is exact, and so is the rest without it. */
function quotient(whole: number, part: number): number {
  return (whole - (whole % part)) / part;
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
