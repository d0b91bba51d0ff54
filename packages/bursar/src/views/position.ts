import { type Budget, limitOf, type Path, usedOf } from "../core/budget.js";
import type { Dimension } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Time } from "../core/time.js";
import type { Store } from "../ports/store.js";
import type { RunRecord } from "../runs/record.js";
import { ownerOf } from "./owner.js";
import { standingPath } from "./standing.js";

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

/** Where a run stands with every limit that counts for it, each said to be whose it is. */
export async function positionsFor(store: Store, run: Pick<RunRecord, "budget" | "id">): Promise<readonly Position[]> {
  const path = await standingPath(store, run.budget);
  return positionsOf(path, store.dimensions, store.clock.now()).map((position) => {
    return { ...position, budget: ownerOf(position.budget, run) };
  });
}

function positionOf(budget: Budget, dimension: Dimension, time: Time): Position {
  return {
    dimension,
    budget: budget.id,
    used: usedOf(budget, dimension, time),
    held: budget.reserved[dimension.id] ?? 0,
    limit: limitOf(budget, dimension.id),
    thresholds: budget.thresholds,
  };
}
