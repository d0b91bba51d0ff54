import type { BudgetAmounts, JsonObject } from "bursar";

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
