import { writeAmount } from "../core/dimension.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Estimate } from "../foresight/estimate.js";
import type { ExpectedView } from "./shapes.js";

/** What a run was expected to take, in edge units and in the order of the table; empty when nobody could say. */
export function expectedIn(estimate: Estimate | null, dimensions: Dimensions): readonly ExpectedView[] {
  if (estimate === null) return [];
  return dimensions.all.flatMap((dimension) => {
    const { id, unit } = dimension;
    const expected = estimate.dimensions[id];
    if (expected === undefined) return [];
    const { median, upper, source } = expected;
    const edge = (amount: number) => writeAmount(dimension, Math.ceil(amount));
    return [{ dimension: id, unit, median: edge(median), upper: edge(upper), source }];
  });
}
