import { type BudgetAmounts, type Dimension, type Finding, type JsonObject, usd, writeAmount } from "bursar";

/** What a person is asked when a run is paused, in edge units. */
export interface ApprovalRequest {
  readonly approval_id: string;
  readonly checkpoint_id: string;
  readonly exhausted_dimension: string;
  readonly consumed: JsonObject;
  readonly limits: JsonObject;
  readonly suggested_extension: BudgetAmounts;
}

/** What the person said. */
export interface Answer {
  readonly kind: "approve" | "deny";
  readonly by: string;
  readonly reason: string;
}

const SHARE = 0.5;
const LEAST_USD = 0.01;

/** Half of the limit, but at least one unit, or a cent. */
export function suggestExtension(dimension: Dimension, { limit }: Finding): BudgetAmounts {
  const least = dimension.unit === "USD" ? usd(LEAST_USD) : 1;
  return { [dimension.id]: writeAmount(dimension, Math.max(least, Math.ceil(limit * SHARE))) };
}
