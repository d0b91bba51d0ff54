/** Below this length a loop is faster than making a view. */
const SHORT = 48;

/** Copies bytes between buffers; short copies allocate nothing. */
export function copyBytes(from: Uint8Array, fromAt: number, to: Uint8Array, toAt: number, length: number): void {
  if (length > SHORT) {
    to.set(from.subarray(fromAt, fromAt + length), toAt);
    return;
  }
  for (let at = 0; at < length; at++) to[toAt + at] = from[fromAt + at] ?? 0;
}
