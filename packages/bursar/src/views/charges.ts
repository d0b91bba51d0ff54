import type { JsonObject } from "../core/chain/canonical.js";
import type { Link } from "../core/chain/link.js";
import type { Dimensions } from "../core/dimensions.js";

/** Amounts have at most nine decimals, and a sum is shown with no more. */
const DECIMALS = 9;

/** What links have charged, call by call, so that a corrected charge counts for what it changes and no more. */
export class Charges {
  private readonly dimensions: Dimensions;
  private readonly calls = new Map<string, JsonObject>();

  constructor(dimensions: Dimensions) {
    this.dimensions = dimensions;
  }

  /** What a Consumption adds to what was charged before it, in edge units; negative where a report takes something back. */
  added({ data }: Pick<Link, "data">): JsonObject {
    const charged = data.resources as JsonObject;
    const call = String(data.call_id);
    const before = data.corrects === undefined ? undefined : this.calls.get(call);
    this.calls.set(call, charged);
    if (before === undefined) return charged;
    const negated = Object.entries(before).map(([id, value]) => [id, this.isPeak(id) ? 0 : -Number(value)]);
    return this.sum(Object.fromEntries(negated) as JsonObject, charged);
  }

  /** Both together: a peak is the higher of the two, everything else adds up. */
  sum(a: JsonObject, b: JsonObject): JsonObject {
    const all: Record<string, number> = {};
    for (const [id, value] of [...Object.entries(a), ...Object.entries(b)]) {
      const before = all[id] ?? 0;
      all[id] = this.isPeak(id) ? Math.max(before, Number(value)) : rounded(before + Number(value));
    }
    return all;
  }

  private isPeak(id: string): boolean {
    return this.dimensions.has(id) && this.dimensions.get(id).kind === "peak";
  }
}

export function rounded(value: number): number {
  return Number(value.toFixed(DECIMALS));
}
