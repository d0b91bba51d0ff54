import { type Budget, heldOf } from "./budget.js";
import type { JsonObject } from "./chain/canonical.js";
import { type Dimension, writeAmount } from "./dimension.js";

/**
 * What a budget holds for calls under way, for children and aside for the final answer, in edge units: neither used nor free.
 * Dimensions without a hold are left out.
 */
export function heldIn(
  budget: Pick<Budget, "reserved" | "aside">,
  dimensions: { readonly all: readonly Dimension[] },
): JsonObject {
  const held: Record<string, number> = {};
  for (const dimension of dimensions.all) {
    const amount = heldOf(budget, dimension.id);
    if (amount > 0) held[dimension.id] = writeAmount(dimension, amount);
  }
  return held;
}
