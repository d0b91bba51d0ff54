import type { BurnDown } from "bursar/views";

/** What a chart draws: columns over one time axis, in milliseconds since the run began; null where there is nothing. */
export interface Curve {
  readonly times: readonly number[];
  readonly remaining: readonly (number | null)[];
  /** One column for each threshold: what is left when it is crossed. */
  readonly thresholds: readonly (readonly (number | null)[])[];
  /** A straight line from now to nothing. */
  readonly projected: readonly (number | null)[];
  /** Where the time axis ends. */
  readonly end: number;
}

/** So much of the axis is given to the time to come, beside the time that has passed. */
const AHEAD = 1;

/** What is left over time: it falls to zero, and an extension lifts it. */
export function curveOf(view: BurnDown, begin: number, until: number): Curve {
  const { exhausted_at, thresholds } = view;
  // Points beyond the end that change nothing would only make the chart longer.
  const points = view.points.filter(({ at, used, limit }, index) => {
    const before = view.points[index - 1];
    return at <= until || before === undefined || used !== before.used || limit !== before.limit;
  });
  const last = points.at(-1);
  if (last === undefined) return { times: [], remaining: [], thresholds: [], projected: [], end: until - begin };
  const now = Math.max(until, last.at);
  const passed = Math.max(now - begin, 1);
  const ahead = exhausted_at !== null && exhausted_at > now && last.used < last.limit;
  const end = ahead ? Math.min(exhausted_at - begin, passed * (1 + AHEAD)) : passed;
  const shown = [...points, { ...last, at: now }];
  const left = Math.max(0, last.limit - last.used);
  const rest = ahead ? left * (1 - (begin + end - now) / (exhausted_at - now)) : null;
  return {
    times: [...shown.map(({ at }) => Math.max(0, at - begin)), ...(ahead ? [end] : [])],
    remaining: [...shown.map(({ used, limit }) => limit - used), ...(ahead ? [null] : [])],
    thresholds: thresholds.map((percent) => [
      ...shown.map(({ limit }) => (limit * (100 - percent)) / 100),
      ...(ahead ? [(last.limit * (100 - percent)) / 100] : []),
    ]),
    projected: [...shown.slice(0, -1).map(() => null), ahead ? left : null, ...(ahead ? [rest] : [])],
    end,
  };
}
