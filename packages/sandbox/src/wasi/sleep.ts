const NS_PER_MS = 1_000_000;
/** A wait longer than this is made of several, because a timer of the host takes no more. */
const LONGEST_MS = 2 ** 31 - 1;

/** Blocks the thread that long. */
export function block(ns: bigint): void {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  for (let left = Math.ceil(Number(ns) / NS_PER_MS); left > 0; left -= LONGEST_MS) {
    Atomics.wait(cell, 0, 0, Math.min(left, LONGEST_MS));
  }
}
