/**
 * Whether a part is at least so many percent of the whole. Exact, because a band must not depend on how a division was
 * rounded: fuel may have more digits than a hundredfold of it leaves room for in a double.
 */
export function reaches(part: number, percent: number, whole: number): boolean {
  return BigInt(part) * 100n >= BigInt(whole) * BigInt(percent);
}

export function exceeds(part: number, percent: number, whole: number): boolean {
  return BigInt(part) * 100n > BigInt(whole) * BigInt(percent);
}

/** Percent, rounded down to a hundredth. Of nothing, nothing is 0 % and anything is 100 %. */
export function percentOf(part: number, whole: number): number {
  if (whole === 0) return part === 0 ? 0 : 100;
  return Number((BigInt(part) * 10_000n) / BigInt(whole)) / 100;
}
