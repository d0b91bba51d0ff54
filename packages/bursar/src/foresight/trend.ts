/** A figure beside what it may depend on. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** Fewer pairs do not tell a trend from chance. */
const LEAST_PAIRS = 6;
/** So many standard deviations more rises than falls there must be: chance does that once in forty times. */
const SURE = 2;

/**
 * By how much `y` rises with `x`: the middle one of the slopes between each point of the lower half and one of the upper half, so
 * that no single point moves it. 0 unless rises and falls differ by more than chance explains.
 */
export function trendOf(points: readonly Point[]): number {
  const sorted = [...points].sort((a, b) => a.x - b.x);
  const half = sorted.length >> 1;
  const slopes: number[] = [];
  for (let at = 0; at < half; at++) {
    const low = sorted[at] as Point;
    const high = sorted[at + sorted.length - half] as Point;
    if (high.x > low.x) slopes.push((high.y - low.y) / (high.x - low.x));
  }
  if (slopes.length < LEAST_PAIRS) return 0;
  const surplus = slopes.reduce((sum, slope) => sum + Math.sign(slope), 0);
  if (Math.abs(surplus) < SURE * Math.sqrt(slopes.length)) return 0;
  slopes.sort((a, b) => a - b);
  const middle = slopes.length >> 1;
  if (slopes.length % 2 === 1) return slopes[middle] as number;
  return ((slopes[middle - 1] as number) + (slopes[middle] as number)) / 2;
}
