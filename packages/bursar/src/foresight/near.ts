import { ENOUGH } from "./bound.js";
import type { Sample } from "./sample.js";

/** So many samples of a size suffice; more from further away would blur what the size has to do with it. */
const LEAST = 60;
/** At most this share of all, so that a bound follows the size when there is much to choose from. */
const SHARE = 0.25;

/** A past run, and how many came after it. */
export interface Past {
  readonly sample: Sample;
  readonly age: number;
}

/**
 * The past runs that are most like the one to come, of samples of which the latest come first: the same version where there are
 * enough, and about as large an input.
 */
export function nearOf(samples: readonly Sample[], digest: string, input_bytes: number): readonly Past[] {
  const all = samples.map((sample, age): Past => ({ sample, age }));
  const own = all.filter(({ sample }) => sample.digest === digest);
  const known = own.length >= ENOUGH ? own : all;
  const count = Math.max(LEAST, Math.ceil(known.length * SHARE));
  if (known.length <= count) return known;
  const size = Math.log1p(input_bytes);
  const far = known.map((past) => ({ past, distance: Math.abs(Math.log1p(past.sample.input_bytes) - size) }));
  // Of those that are equally near the latest count: programs and their surroundings change.
  return far
    .sort((a, b) => a.distance - b.distance)
    .slice(0, count)
    .map(({ past }) => past);
}
