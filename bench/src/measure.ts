/** One of the things that are measured side by side. */
export interface Variant {
  readonly name: string;
  /** How many operations one round has; chosen so that rounds take about as long as each other. */
  readonly operations: number;
  run(operations: number): void;
}

export interface Measured {
  readonly name: string;
  readonly medianNs: number;
  readonly p10Ns: number;
  /** The median of the ratios to the first variant, each taken within one round. */
  readonly ratio: number;
}

const WARM_UP_ROUNDS = 3;
/** With new data in each round, it takes longer until the engine has seen what there is to see. */
const RENEWED_WARM_UP_ROUNDS = 50;

/**
 * Times all variants in one process, one after the other within each round, so that whatever else the machine does
 * concerns all of them. The first variant is the baseline.
 */
export function measure(variants: readonly Variant[], rounds: number): readonly Measured[] {
  const times = variants.map(() => [] as number[]);
  for (let round = -WARM_UP_ROUNDS; round < rounds; round++) {
    variants.forEach((variant, index) => {
      const perOperation = time(variant);
      if (round >= 0) times[index]?.push(perOperation);
    });
  }
  return summary(variants, times);
}

/** A variant that may have to be waited for. */
export interface AsyncVariant extends Omit<Variant, "run"> {
  run(operations: number): void | Promise<void>;
}

/** Like `measure`, for variants that may have to be waited for; `prepare` comes before each round and is not timed. */
export async function measureAsync(
  variants: readonly AsyncVariant[],
  rounds: number,
  prepare: () => void,
): Promise<readonly Measured[]> {
  const times = variants.map(() => [] as number[]);
  for (let round = -RENEWED_WARM_UP_ROUNDS; round < rounds; round++) {
    prepare();
    for (const [index, { operations, run }] of variants.entries()) {
      const start = process.hrtime.bigint();
      await run(operations);
      const perOperation = Number(process.hrtime.bigint() - start) / operations;
      if (round >= 0) times[index]?.push(perOperation);
    }
  }
  return summary(variants, times);
}

function summary(
  variants: readonly { readonly name: string }[],
  times: readonly (readonly number[])[],
): readonly Measured[] {
  const baseline = times[0] ?? [];
  return variants.map(({ name }, index) => {
    const own = times[index] ?? [];
    const ratios = own.map((value, round) => value / (baseline[round] ?? value));
    return { name, medianNs: quantile(own, 0.5), p10Ns: quantile(own, 0.1), ratio: quantile(ratios, 0.5) };
  });
}

function time({ operations, run }: Variant): number {
  const start = process.hrtime.bigint();
  run(operations);
  return Number(process.hrtime.bigint() - start) / operations;
}

/** The value below which that share of the values lies; one of the values themselves. */
function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}
