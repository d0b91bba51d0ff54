import type { JsonObject } from "../core/chain/canonical.js";

/** What was charged at one moment, in edge units. */
export interface Charge {
  readonly at: number;
  readonly amounts: JsonObject;
}

/** A time in which a clock ran; `to` is null while it still does. */
export interface Span {
  readonly from: number;
  readonly to: number | null;
}

/** How something was used up to now. */
export interface Course {
  /** In the order in which they happened. */
  readonly charges: readonly Charge[];
  /** When it ran, in order; what lies between does not count. */
  readonly spans: readonly Span[];
  readonly now: number;
}

/** How much is used per millisecond of running time, by dimension, and over how long that was seen. */
export interface Rates {
  readonly running_ms: number;
  readonly per_ms: Readonly<Record<string, number>>;
}

/** One charge may be chance; two say a little about the time between them. And less than a second says nothing. */
const FEWEST_CHARGES = 2;
const SHORTEST_MS = 1000;
/** The parts of the running time, up to now, over which a rate is taken. */
const PARTS = [0.25, 0.5, 1] as const;

interface Counted {
  charges: number;
  /** What was used in each of the parts. */
  readonly used: number[];
}

/**
 * How fast everything is used. The rate is the middle one of those over the last quarter, the last half and the whole of the
 * running time: one large call in the beginning is soon forgotten, one at the end is not taken for the rule, and whoever
 * uses nothing any more is seen to slow down. A time in which nothing ran is none.
 */
export function ratesOf({ charges, spans, now }: Course): Rates {
  const running_ms = runningTime(spans, now);
  if (running_ms < SHORTEST_MS) return { running_ms, per_ms: {} };
  const all = new Map<string, Counted>();
  const clock = new RunningClock(spans, now);
  for (const { at, amounts } of charges) {
    const age = (running_ms - clock.at(at)) / running_ms;
    for (const [dimension, value] of Object.entries(amounts)) {
      const amount = Number(value);
      if (amount === 0) continue;
      const counted = all.get(dimension) ?? { charges: 0, used: PARTS.map(() => 0) };
      all.set(dimension, counted);
      counted.charges++;
      for (const [index, part] of PARTS.entries())
        if (age <= part) counted.used[index] = (counted.used[index] ?? 0) + amount;
    }
  }
  const per_ms: Record<string, number> = {};
  for (const [dimension, { charges: count, used }] of all) {
    const rates = PARTS.map((part, index) => Math.max(0, used[index] ?? 0) / (part * running_ms));
    if (count >= FEWEST_CHARGES) per_ms[dimension] = rates.sort((a, b) => a - b)[1] ?? 0;
  }
  return { running_ms, per_ms };
}

/** How long it has run up to an instant. */
export function runningTime(spans: readonly Span[], at: number): number {
  let time = 0;
  for (const { from, to } of spans) time += Math.max(0, Math.min(at, to ?? at) - from);
  return time;
}

/** The same for many instants in ascending order, in one go. One that goes back, as a clock that was set does, counts as the last. */
class RunningClock {
  private readonly spans: readonly Span[];
  private readonly now: number;
  private next = 0;
  private before = 0;
  private latest = 0;

  constructor(spans: readonly Span[], now: number) {
    this.spans = spans;
    this.now = now;
  }

  at(instant: number): number {
    const until = Math.min(instant, this.now);
    for (let span = this.spans[this.next]; span?.to != null && span.to <= until; span = this.spans[this.next]) {
      this.before += Math.max(0, span.to - span.from);
      this.next++;
    }
    const span = this.spans[this.next];
    const inside = span === undefined ? 0 : Math.max(0, until - span.from);
    this.latest = Math.max(this.latest, this.before + inside);
    return this.latest;
  }
}

/** What is farther away than so many times the time it has run is not in sight. */
const FARTHEST = 100;

/** The instant at which what is left is used up when it goes on like this; null when that is not in sight. */
export function exhaustionAt(
  left: number,
  dimension: string,
  { per_ms, running_ms }: Rates,
  now: number,
): number | null {
  const rate = per_ms[dimension] ?? 0;
  if (!(rate > 0)) return null;
  const left_ms = Math.max(0, left) / rate;
  return left_ms > FARTHEST * running_ms ? null : Math.ceil(now + left_ms);
}
