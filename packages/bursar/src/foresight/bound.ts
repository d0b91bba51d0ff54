import type { Prediction } from "../ports/foresight.js";

/** One figure of a past run; `cut` says that it would have been more. */
export interface Figure {
  readonly value: number;
  readonly cut: boolean;
}

const SHARE = 0.95;

/** With so many figures their order decides alone: the largest of ten is not passed by 91 of 100, whatever the shape. */
export const ENOUGH = 10;

/** As long as one or two runs are all that was seen, it counts like so many more that figures vary by about half of themselves. */
const FIRST_SPREAD = 0.5;
const FIRST_FREEDOM = 3;
const FIRST_RUNS = 2;

/** The largest figure is taken for so much of what was seen of it when it was cut off: nobody knows how much is missing. */
const CUT_FACTOR = 1.5;

/**
 * Predicts the next figure from past ones, in any order. With many, the bound is an order statistic, which holds whatever the shape of
 * the distribution and is not moved by outliers; with few, it is that of a t-distribution of their logarithms. Null without any.
 */
export function boundOf(figures: readonly Figure[]): Prediction | null {
  const count = figures.length;
  if (count === 0) return null;
  const counted = weighted(figures);
  const median = (atRank(counted, count / 2) + atRank(counted, (count + 1) / 2)) / 2;
  return { median, upper: count < ENOUGH ? fromLogarithms(counted) : fromOrder(counted, SHARE * (count + 1), count) };
}

/** Below twenty figures the rank lies beyond the largest: as far beyond as the step to it, in proportion. */
function fromOrder(counted: readonly Weighted[], rank: number, count: number): number {
  if (rank <= count) return atRank(counted, Math.ceil(rank));
  const largest = counted.at(-1)?.value ?? 0;
  const before = counted.at(-2)?.value ?? largest;
  return largest + (rank - count) * (largest - before);
}

interface Weighted {
  readonly value: number;
  readonly weight: number;
}

/**
 * In ascending order, each with how many figures it stands for. One that was cut off says only that it would have been more, so what
 * it stands for goes to all that are larger: that is the estimator of Kaplan and Meier.
 */
function weighted(figures: readonly Figure[]): readonly Weighted[] {
  const sorted = [...figures].sort((a, b) => a.value - b.value || Number(a.cut) - Number(b.cut));
  const counted: Weighted[] = [];
  let weight = 1;
  for (const [at, { value, cut }] of sorted.entries()) {
    const larger = sorted.length - 1 - at;
    if (cut && larger > 0) weight += weight / larger;
    else counted.push({ value: cut ? value * CUT_FACTOR : value, weight });
  }
  return counted;
}

/** Weights are sums of fractions, which may miss a whole number by a little. */
const NEARLY = 1e-9;

/** The value at a rank, counted by weight. */
function atRank(counted: readonly Weighted[], rank: number): number {
  let sum = 0;
  for (const { value, weight } of counted) {
    sum += weight;
    if (sum >= rank - NEARLY) return value;
  }
  return counted.at(-1)?.value ?? 0;
}

/** A handful of figures shows no tail that reaches further than so many times the largest. */
const MOST_TIMES = 10;

/**
 * Amounts span orders of magnitude and are never negative, which is what logarithms are for; one is added, or one step and two would lie
 * as far apart as a thousand and two thousand. Runs that took nothing say nothing of how much the others take: from nothing to something
 * are more orders of magnitude than between any two amounts.
 */
function fromLogarithms(counted: readonly Weighted[]): number {
  const logs = counted.flatMap(({ value, weight }) => (value > 0 ? [{ log: Math.log1p(value), weight }] : []));
  if (logs.length === 0) return 0;
  const count = logs.length;
  const total = logs.reduce((sum, each) => sum + each.weight, 0);
  const mean = logs.reduce((sum, each) => sum + each.weight * each.log, 0) / total;
  const squares = (count / total) * logs.reduce((sum, each) => sum + each.weight * (each.log - mean) ** 2, 0);
  const assumed = count <= FIRST_RUNS ? FIRST_FREEDOM : 0;
  const freedom = count - 1 + assumed;
  const spread = Math.sqrt((squares + assumed * FIRST_SPREAD ** 2) / freedom);
  const bound = Math.expm1(mean + (STUDENT[freedom - 1] as number) * spread * Math.sqrt(1 + 1 / count));
  const largest = counted.at(-1)?.value ?? 0;
  return Math.min(Math.max(bound, largest), MOST_TIMES * largest);
}

/** The 95 % quantiles of the t-distribution with 1 to 8 degrees of freedom, from tables. */
const STUDENT: readonly number[] = [6.314, 2.92, 2.353, 2.132, 2.015, 1.943, 1.895, 1.86];
