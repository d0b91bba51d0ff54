import type { Budget, Dimension, Dimensions, Path, Time } from "bursar";

/** Where one dimension stands in the budget that limits it most. Amounts are in ledger units. */
export interface Position {
  readonly dimension: Dimension;
  readonly budget: string;
  readonly used: number;
  readonly held: number;
  readonly limit: number;
  /** Percentages, ascending. */
  readonly thresholds: readonly number[];
}

/** What is neither used nor held; negative when overdrawn. */
export function leftOf({ limit, used, held }: Position): number {
  return limit - used - held;
}

/** One position for every dimension that is limited anywhere on the path, in the order of the table. */
export function positionsOf(path: Path, dimensions: Dimensions, time: Time): readonly Position[] {
  return dimensions.all.flatMap((dimension) => {
    const positions = path
      .filter(({ limits }) => limits[dimension.id] !== undefined)
      .map((budget) => positionOf(budget, dimension, time));
    const tightest = positions.reduce<Position | null>(
      (least, each) => (least === null || leftOf(each) < leftOf(least) ? each : least),
      null,
    );
    return tightest === null ? [] : [tightest];
  });
}

function positionOf(budget: Budget, dimension: Dimension, time: Time): Position {
  const { id, kind } = dimension;
  return {
    dimension,
    budget: budget.id,
    used: kind === "clock" ? running(budget, time) : (budget.used[id] ?? 0),
    held: budget.reserved[id] ?? 0,
    limit: (budget.limits[id] ?? 0) + (budget.extended[id] ?? 0),
    thresholds: budget.thresholds,
  };
}

/** Running time without pauses, in whole milliseconds. */
function running({ watch }: Budget, time: Time): number {
  const since = watch.since === null ? 0 : Math.max(0, time.monotonic - watch.since);
  return Math.floor(watch.elapsed + since);
}
