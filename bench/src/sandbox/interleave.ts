import type { Measured } from "../measure.js";
import { threadNs } from "./thread-time.js";

/** One of the things that are compared. */
export interface Compared {
  readonly name: string;
  run(): void | Promise<void>;
}

export interface Rounds {
  readonly rounds: number;
  /** Rounds that are not counted, until the engine has compiled what is used often. */
  readonly warmUp: number;
  /** Tells the time in nanoseconds; that of this thread alone when left out. */
  readonly clock?: () => number;
}

/** Runs all of them in every round, each round in another order, and compares within rounds. The first is the baseline. */
export async function interleave(
  compared: readonly Compared[],
  { rounds, warmUp, clock = threadNs }: Rounds,
): Promise<readonly Measured[]> {
  const times = compared.map(() => [] as number[]);
  for (let round = -warmUp; round < rounds; round++) {
    for (const index of shuffled(compared.length)) {
      const start = clock();
      await compared[index]?.run();
      const passed = clock() - start;
      if (round >= 0) times[index]?.push(passed);
    }
  }
  const baseline = times[0] ?? [];
  return compared.map(({ name }, index) => {
    const own = times[index] ?? [];
    const ratios = own.map((value, round) => value / (baseline[round] ?? value));
    return { name, medianNs: quantile(own, 0.5), p10Ns: quantile(own, 0.1), ratio: quantile(ratios, 0.5) };
  });
}

/** The time that passes for everybody, for what does not happen in this thread. */
export function wallNs(): number {
  return performance.now() * 1e6;
}

/** The value below which that share of the values lies; one of the values themselves. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

export function geometricMean(values: readonly number[]): number {
  return Math.exp(values.reduce((sum, value) => sum + Math.log(value), 0) / values.length);
}

/** The numbers below a count, in any order. */
export function shuffled(count: number): readonly number[] {
  const order = Array.from({ length: count }, (_, index) => index);
  for (let at = count - 1; at > 0; at--) {
    const other = Math.floor(Math.random() * (at + 1));
    [order[at], order[other]] = [order[other] as number, order[at] as number];
  }
  return order;
}
