import type { Figure } from "./bound.js";
import type { Past } from "./near.js";
import { trendOf } from "./trend.js";

/** Costs that grow faster with the input than this are taken for chance. */
const STEEPEST = 3;
/** While inputs differ by less than this, growth faster than their own is taken for chance already: a byte says too little. */
const TRUSTED_SPAN: number = Math.log(10);
/** An input so many times as large as any before, and so many bytes larger, is like none of them. */
const FAR_TIMES = 4;
const FAR_BYTES = 1024;

/** Whether an input is so much larger than all before that they say little about it. */
export function isFar(past: readonly Past[], input_bytes: number): boolean {
  const largest = Math.max(0, ...past.map(({ sample }) => sample.input_bytes));
  return input_bytes > FAR_TIMES * largest + FAR_BYTES;
}

/**
 * What past runs would have taken of a dimension with an input of this size, and now: where the figures have grown with the input or
 * have changed with time, they are brought to the place of the run to come. Smaller inputs than any before are taken for the smallest,
 * and ones that are far larger for proportionally dearer, because nothing shows that they are not.
 */
export function levelled(past: readonly Past[], dimension: string, input_bytes: number): readonly Figure[] {
  const points = past.map(({ sample, age }) => ({
    value: sample.used[dimension] ?? 0,
    cut: sample.cut,
    age,
    size: Math.log1p(sample.input_bytes),
  }));
  const size = Math.log1p(Math.max(input_bytes, Math.min(...past.map(({ sample }) => sample.input_bytes))));
  // Runs that took nothing of it, or were stopped, do not show what it depends on.
  const shown = points.filter(({ value, cut }) => value > 0 && !cut);
  const slope = trendOf(shown.map((point) => ({ x: point.size, y: Math.log(point.value) })));
  const growth = Math.min(steepest(points), Math.max(slope, isFar(past, input_bytes) ? 1 : 0));
  const drift = trendOf(shown.map((point) => ({ x: point.age, y: Math.log(point.value) - growth * point.size })));
  return points.map(({ value, cut, age, size: own }) => ({
    value: value * Math.exp(growth * (size - own) - drift * age),
    cut,
  }));
}

function steepest(points: readonly { readonly size: number }[]): number {
  const sizes = points.map(({ size }) => size);
  return Math.max(...sizes) - Math.min(...sizes) >= TRUSTED_SPAN ? STEEPEST : 1;
}
