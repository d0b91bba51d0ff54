/** Somebody who takes part in a whole. */
export interface Sharer {
  readonly weight: number;
  /** What was held for him: he is not given more, as long as the others have room for it. */
  readonly most: number;
}

/**
 * Splits a whole number by weight, so that the parts add up to it exactly: all are rounded down, and what is left goes to those who
 * lost most by it. Nobody gets more than was held for him unless all together held too little: then the rest goes by weight.
 */
export function shareOut(total: number, sharers: readonly Sharer[]): readonly number[] {
  const parts = sharers.map(() => 0);
  let left = total;
  // Each round settles one sharer at least, who then has all that was held for him.
  for (let round = 0; round <= sharers.length && left > 0; round++) {
    const open = sharers.map((_, index) => index).filter((index) => (parts[index] ?? 0) < (sharers[index]?.most ?? 0));
    if (open.length === 0) break;
    const wanted = byWeight(
      left,
      open.map((index) => sharers[index]?.weight ?? 0),
    );
    for (const [at, index] of open.entries()) {
      const room = (sharers[index]?.most ?? 0) - (parts[index] ?? 0);
      const taken = Math.min(wanted[at] ?? 0, room);
      parts[index] = (parts[index] ?? 0) + taken;
      left -= taken;
    }
  }
  if (left === 0) return parts;
  const rest = byWeight(
    left,
    sharers.map(({ weight }) => weight),
  );
  return parts.map((part, index) => part + (rest[index] ?? 0));
}

/** The largest remainders get what rounding down has left; of equal ones, the first. */
function byWeight(total: number, weights: readonly number[]): readonly number[] {
  const sum = weights.reduce((all, weight) => all + BigInt(weight), 0n);
  if (sum === 0n)
    return byWeight(
      total,
      weights.map(() => 1),
    );
  const exact = weights.map((weight) => BigInt(total) * BigInt(weight));
  const parts = exact.map((each) => Number(each / sum));
  const left = total - parts.reduce((all, part) => all + part, 0);
  const first = exact
    .map((each, index) => ({ index, remainder: each % sum }))
    .sort((a, b) => (a.remainder === b.remainder ? a.index - b.index : a.remainder > b.remainder ? -1 : 1))
    .slice(0, left);
  for (const { index } of first) parts[index] = (parts[index] ?? 0) + 1;
  return parts;
}
