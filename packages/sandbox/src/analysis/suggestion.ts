/** How many times what was consumed a new budget should hold: more when it was close. */
export type Factor = 1.5 | 2;

/**
 * A round budget with a margin: consumed times the factor, rounded up to two digits of which the second is 0 or 5. Where
 * that would be more than 2.5 times of what was consumed, any second digit will do.
 */
export function suggestBudget(consumed: number, factor: Factor): number {
  const product = halfUp(BigInt(consumed) * (factor === 2 ? 4n : 3n));
  const digits = product.toString().length;
  const fine = 10n ** BigInt(Math.max(0, digits - 2));
  const coarse = digits === 1 ? 1n : 5n * fine;
  const round = roundUp(product, coarse);
  return Number(round * 2n > BigInt(consumed) * 5n ? roundUp(product, fine) : round);
}

function halfUp(twice: bigint): bigint {
  return (twice + 1n) / 2n;
}

function roundUp(value: bigint, step: bigint): bigint {
  return ((value + step - 1n) / step) * step;
}
