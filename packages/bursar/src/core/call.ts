import type { Amounts } from "./amount.js";
import type { BudgetId } from "./budget.js";
import type { CallKind } from "./usage.js";

export type CallId = string;

/** One attempt at an effect, from its reservation to its settlement. Its id is what makes it count once. */
export interface Call {
  readonly id: CallId;
  readonly budget: BudgetId;
  readonly kind: CallKind;
  readonly step_id: string;
  readonly capability_id: string;
  readonly asked: Amounts;
  /** The instant at which the reservation is settled if nobody has done so. */
  readonly expires: number | null;
  readonly status: "reserved" | "committed" | "released";
  readonly charged: Amounts;
  readonly estimated: boolean;
  /** The link that recorded its start. */
  readonly link: string | null;
}
