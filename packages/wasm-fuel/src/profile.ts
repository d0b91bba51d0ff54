/**
 * How often each edge of a module ran in a training, in the order in which the rewriter numbers them. It decides where charges
 * stand, never what they add up to.
 */
export interface Profile {
  /** For each edge 0 when it never ran, else 1 for once, 2 for two or three times, and so on with the powers of two. */
  readonly levels: Uint8Array;
}

/**
 * What a profile's bytes mean: how they are written, and how the rewriter numbers edges. When it goes up, guests that were built
 * before are metered without their profile.
 */
export const PROFILE_FORMAT = 1;

const HEADER = Buffer.from(`bursar profile ${PROFILE_FORMAT}\n`, "latin1");
/** A byte above this is so many edges that never ran; the other bytes are levels. */
const ZEROS = 128;
const MOST_ZEROS = 127;
/** More than any module has that can be compiled. */
const MOST_EDGES = 2 ** 27;

/** The profile that counts make, one for each edge. */
export function profileOf(counts: Float64Array): Profile {
  return { levels: Uint8Array.from(counts, levelOf) };
}

/** Halves and counts, because logarithms are not the same on every machine. */
function levelOf(count: number): number {
  let level = 0;
  for (let left = count; left >= 1; left /= 2) level += 1;
  return Math.min(level, ZEROS);
}

/** A profile as bytes. Most edges never run, so it is small; compressed, it would not be the same with every version of zlib. */
export function writeProfile({ levels }: Profile): Uint8Array {
  const bytes: number[] = [];
  let zeros = 0;
  for (const level of levels) {
    if (level === 0 && zeros < MOST_ZEROS) zeros += 1;
    else {
      if (zeros > 0) bytes.push(ZEROS + zeros);
      zeros = level === 0 ? 1 : 0;
      if (level > 0) bytes.push(Math.min(level, ZEROS));
    }
  }
  if (zeros > 0) bytes.push(ZEROS + zeros);
  return Buffer.concat([HEADER, Uint8Array.from(bytes)]);
}

/** @throws {RangeError} when the bytes are no profile of this format. */
export function readProfile(bytes: Uint8Array): Profile {
  const runs = bytes.subarray(HEADER.length);
  if (!HEADER.equals(bytes.subarray(0, HEADER.length)) || runs.includes(0))
    throw new RangeError(`the bytes are no profile of format ${PROFILE_FORMAT}; build the guest again`);
  let edges = 0;
  for (const run of runs) edges += run > ZEROS ? run - ZEROS : 1;
  if (edges > MOST_EDGES) throw new RangeError(`the profile is of ${edges} edges; at most ${MOST_EDGES} can be`);
  const levels = new Uint8Array(edges);
  let edge = 0;
  for (const run of runs) {
    if (run <= ZEROS) levels[edge] = run;
    edge += run > ZEROS ? run - ZEROS : 1;
  }
  return { levels };
}
