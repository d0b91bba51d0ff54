import { type Dimension, writeAmount } from "../core/dimension.js";
import { InputError, show } from "../core/errors.js";
import type { Store } from "../ports/store.js";
import { type History, readHistory, statusesWithHistory, statusOf } from "./history.js";

/** How well predictions have held: `too_few` runs to tell, passed too often, as promised, or never nearly reached. */
export type Calibrated = "too_few" | "too_tight" | "good" | "too_wide";

/** How the predictions of one dimension of one program compare with what happened. In edge units. */
export interface CalibrationRow {
  readonly program: string;
  readonly dimension: string;
  readonly unit: string;
  /** The runs that count: those that were predicted and came to their end, or passed the bound before. */
  readonly runs: number;
  /** Runs that were cut off below their bound: what they would have taken, nobody knows. */
  readonly cut: number;
  /** The share of the runs that did not pass their 95 %. */
  readonly covered: number;
  /** Half of the runs were no further away from their predicted median. */
  readonly median_error: number;
  /** The share of its bound that 95 of 100 runs did not pass: about 1 when the bound is well chosen. */
  readonly reached: number;
  readonly calibrated: Calibrated;
}

export interface CalibrationOptions {
  /** One program; all of them unless it is said. */
  readonly program?: string;
  /** How many of the latest runs of each program count: 1,000. */
  readonly limit?: number;
}

/** Below so many runs, chance decides; and to tell that a bound is never reached takes more. */
const FEW = 20;
const MANY = 100;
const LEAST_COVERED = 0.9;
const MOST_COVERED = 0.99;
/** A bound that is always kept may also be exact; it is too wide when runs stay so far below it. */
const LEAST_REACHED = 0.8;
const LIMIT = 1000;
const MOST_LIMIT = 1_000_000;

/** Compares what was predicted for runs that have ended with what they took. Programs by name, dimensions as in the table. */
export async function calibration(store: Store, options: CalibrationOptions = {}): Promise<readonly CalibrationRow[]> {
  const { program, limit = LIMIT } = options;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MOST_LIMIT) {
    throw new InputError("limit", `is ${show(limit)}; allowed: a whole number from 1 to ${MOST_LIMIT}`);
  }
  const statuses =
    program === undefined
      ? await statusesWithHistory(store)
      : [statusOf({ name: program, digest: "", brought: false })];
  const rows: CalibrationRow[] = [];
  for (const status of statuses) {
    const past: History[] = [];
    for await (const document of store.latest("history", { status, limit })) past.push(readHistory(document));
    for (const dimension of store.dimensions.all) {
      const row = rowOf(past, dimension);
      if (row !== null) rows.push(row);
    }
  }
  return rows;
}

/** Null when nothing was ever predicted of this dimension. */
function rowOf(past: readonly History[], dimension: Dimension): CalibrationRow | null {
  const { id, unit } = dimension;
  const predicted = past.flatMap(({ estimate, used, cut }) => {
    const prediction = estimate?.[id];
    return prediction === undefined ? [] : [{ ...prediction, used: used?.[id] ?? 0, cut }];
  });
  if (predicted.length === 0) return null;
  // Of a run that was cut off below its bound nobody knows whether it would have passed it.
  const known = predicted.filter(({ used, upper, cut }) => !cut || used > upper);
  const covered = known.filter(({ used, upper }) => used <= upper).length / known.length;
  const errors = known.map(({ used, median }) => Math.abs(used - median));
  const shares = known.map(({ used, upper }) => (used === upper ? 1 : used / Math.max(1, upper)));
  const reached = quantile(shares, 0.95);
  return {
    program: past[0]?.program ?? "",
    dimension: id,
    unit,
    runs: known.length,
    cut: predicted.length - known.length,
    covered: known.length === 0 ? 0 : covered,
    median_error: writeAmount(dimension, Math.round(quantile(errors, 0.5))),
    reached,
    calibrated: judge(known.length, covered, reached),
  };
}

function judge(runs: number, covered: number, reached: number): Calibrated {
  if (runs < FEW) return "too_few";
  if (covered < LEAST_COVERED) return "too_tight";
  return runs >= MANY && covered > MOST_COVERED && reached < LEAST_REACHED ? "too_wide" : "good";
}

/** The value that this share of them does not pass; 0 of none. */
function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
