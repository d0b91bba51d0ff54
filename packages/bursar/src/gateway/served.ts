import type { BudgetAmounts } from "../core/input.js";

/** A request that is over, as whoever runs the gateway wants to see it. */
export interface Served {
  readonly method: string;
  readonly path: string;
  /** What was answered; 0 when the client had hung up before. */
  readonly status: number;
  /** The key that was shown; null when it was none of the gateway's. */
  readonly key_id: string | null;
  readonly label: string | null;
  readonly budget: string | null;
  readonly upstream: string | null;
  readonly model: string | null;
  readonly stream: boolean;
  /** Why nothing was sent: the code of the refusal, such as `budget_exceeded`. */
  readonly refused: string | null;
  /** What went wrong at the provider or on the way: a code, or null. */
  readonly failed: string | null;
  /** In edge units. */
  readonly charged: BudgetAmounts;
  /** Whether the provider has not said what it used, so that it is charged what it can have used at most. */
  readonly estimated: boolean;
  readonly duration_ms: number;
}
