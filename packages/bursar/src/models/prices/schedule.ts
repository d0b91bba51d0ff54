import type { Band } from "./rates.js";

/** When a price counts: always, from an instant on, or between two times of the day in UTC (which may enclose midnight). */
export type When =
  | { readonly kind: "always" }
  | { readonly kind: "from"; readonly instant: number }
  | { readonly kind: "daily"; readonly start_ms: number; readonly end_ms: number };

/** What a model costs for a while. */
export interface Period {
  readonly when: When;
  /** By the size of the input, smallest first; the first counts for every size. */
  readonly bands: readonly [Band, ...Band[]];
  /** What each call costs beside its tokens, in millionths of a billionth of a dollar. */
  readonly per_call: bigint;
}

/** Later periods win over earlier ones; the first counts when no other does. */
export type Schedule = readonly [Period, ...Period[]];

const DAY_MS = 86_400_000;

/** The one period that counts at an instant. */
export function periodAt(schedule: Schedule, instant: number): Period {
  return schedule.findLast(({ when }) => counts(when, instant)) ?? schedule[0];
}

/**
 * All periods that may count for a call that is made now: until a day from now, because a call takes its time, and from a day
 * ago, because two clocks need not agree.
 */
export function periodsAround(schedule: Schedule, instant: number): readonly Period[] {
  const found: Period[] = [];
  for (const period of schedule.toReversed()) {
    const { when } = period;
    if (when.kind === "from" && when.instant > instant + DAY_MS) continue;
    found.push(period);
    // From here on, nothing that stands before it can count any more.
    if (when.kind === "always" || (when.kind === "from" && when.instant <= instant - DAY_MS)) return found;
  }
  return [...found, schedule[0]];
}

function counts(when: When, instant: number): boolean {
  if (when.kind === "always") return true;
  if (when.kind === "from") return instant >= when.instant;
  const { start_ms: start, end_ms: end } = when;
  const time = ((instant % DAY_MS) + DAY_MS) % DAY_MS;
  return end < start ? time >= start || time < end : time >= start && time < end;
}
