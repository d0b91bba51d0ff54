import type { Budget } from "./budget.js";
import type { JsonObject } from "./chain/canonical.js";
import { writeAmount } from "./dimension.js";
import type { Dimensions } from "./dimensions.js";

/** What a budget holds for calls under way, in edge units: neither used nor free. What it holds nothing of is left out. */
export function heldIn({ reserved }: Pick<Budget, "reserved">, dimensions: Dimensions): JsonObject {
  const held: Record<string, number> = {};
  for (const dimension of dimensions.all) {
    const amount = reserved[dimension.id] ?? 0;
    if (amount > 0) held[dimension.id] = writeAmount(dimension, amount);
  }
  return held;
}
