import type { Prediction } from "../../ports/foresight.js";

/** What is known of a run when its next model call is to be made. */
export interface Progress {
  /** The model calls that were made. */
  readonly calls: number;
  /** The steps that were made, of whatever kind. */
  readonly steps: number;
  /** The steps that the run is expected to take; null when nobody knows. */
  readonly expected: Prediction | null;
  /** How many steps are left; infinite without a limit. */
  readonly left: number;
}

/**
 * How many model calls are still to come, the next one among them. With a prediction, they are as large a part of the steps to come
 * as they were of those that were made; a run that has passed its median is taken for a long one. Without any, a run is taken to be
 * in its middle. Never more than the limit of steps lets through.
 */
export function expectedCalls({ calls, steps, expected, left }: Progress): number {
  const wanted = expected === null ? calls : stepsToCome(expected, steps) * share(calls, steps);
  return Math.max(1, Math.min(wanted, left));
}

function stepsToCome({ median, upper }: Prediction, steps: number): number {
  return Math.max(0, (steps < median ? median : upper) - steps);
}

function share(calls: number, steps: number): number {
  return steps === 0 || calls === 0 ? 1 : Math.min(1, calls / steps);
}
