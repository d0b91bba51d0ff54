import type { Sample } from "./sample.js";

/** So many samples of a size suffice; more from further away would blur what the size has to do with it. */
const LEAST = 60;
/** At most this share of all, so that a bound follows the size when there is much to choose from. */
const SHARE = 0.25;
/** With so many of the version that is to be run, those of others are not needed. */
const OWN_VERSION = 20;

/** The past runs that are most like the one to come: the same version where there are enough, and about as large an input. */
export function nearOf(samples: readonly Sample[], digest: string, input_bytes: number): readonly Sample[] {
  const own = samples.filter((sample) => sample.digest === digest);
  const known = own.length >= OWN_VERSION ? own : samples;
  const count = Math.max(LEAST, Math.ceil(known.length * SHARE));
  if (known.length <= count) return known;
  const size = Math.log1p(input_bytes);
  const distance = (sample: Sample) => Math.abs(Math.log1p(sample.input_bytes) - size);
  // Of those that are equally near the latest count: programs and their surroundings change.
  return [...known]
    .reverse()
    .sort((a, b) => distance(a) - distance(b))
    .slice(0, count);
}
