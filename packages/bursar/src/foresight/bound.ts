import type { Prediction } from "../ports/foresight.js";

/** One figure of a past run; `cut` says that it would have been more. */
export interface Figure {
  readonly value: number;
  readonly cut: boolean;
}

const SHARE = 0.95;

/** With so many figures their order decides alone: the largest of ten is not passed by 91 of 100, whatever the shape. */
const ENOUGH = 10;

/** What is taken for granted as long as one or two runs are all that was seen: figures vary by about half of themselves. */
const FIRST_SPREAD = 0.5;
const FIRST_RUNS = 2;

/** A figure that a limit has cut off is taken for so much of what was seen of it. */
const CUT_FACTOR = 1.5;

/**
 * Predicts the next figure from past ones, in any order. With many, the bound is an order statistic, which holds whatever the shape of
 * the distribution and is not moved by outliers; with few, it is that of a t-distribution of their logarithms. Null without any.
 */
export function boundOf(figures: readonly Figure[]): Prediction | null {
  if (figures.length === 0) return null;
  const values = figures.map(({ value, cut }) => (cut ? value * CUT_FACTOR : value)).sort((a, b) => a - b);
  const median = middle(values);
  const largest = values.at(-1) as number;
  if (values.length >= ENOUGH) {
    const rank = Math.ceil(SHARE * (values.length + 1));
    return { median, upper: values[Math.min(rank, values.length) - 1] as number };
  }
  return { median, upper: Math.max(largest, fromLogarithms(values)) };
}

function middle(sorted: readonly number[]): number {
  const half = sorted.length >> 1;
  if (sorted.length % 2 === 1) return sorted[half] as number;
  return ((sorted[half - 1] as number) + (sorted[half] as number)) / 2;
}

/** Amounts span orders of magnitude and are never negative, which is what logarithms are for; one is added because some are zero. */
function fromLogarithms(values: readonly number[]): number {
  if (values.every((value) => value === 0)) return 0;
  const logs = values.map((value) => Math.log1p(value));
  const count = logs.length;
  const mean = logs.reduce((sum, each) => sum + each, 0) / count;
  const squares = logs.reduce((sum, each) => sum + (each - mean) ** 2, 0);
  const isFirst = count <= FIRST_RUNS;
  const freedom = isFirst ? count : count - 1;
  const spread = Math.sqrt((squares + (isFirst ? FIRST_SPREAD ** 2 : 0)) / freedom);
  return Math.expm1(mean + (STUDENT[freedom - 1] as number) * spread * Math.sqrt(1 + 1 / count));
}

/** The 95 % quantiles of the t-distribution with 1 to 8 degrees of freedom, from tables. */
const STUDENT: readonly number[] = [6.314, 2.92, 2.353, 2.132, 2.015, 1.943, 1.895, 1.86];
