import type { Amounts } from "./amount.js";
import type { BudgetId } from "./budget.js";
import type { CallKind } from "./usage.js";

export type CallId = string;

/** One attempt at an effect, from its reservation to its settlement. Its id is what makes it count once. */
export interface Call {
  readonly id: CallId;
  readonly budget: BudgetId;
  /** `charge` for usage that was recorded without a reservation. */
  readonly kind: CallKind | "charge";
  readonly step_id: string;
  readonly capability_id: string;
  readonly asked: Amounts;
  /** The process that holds the reservation, so that others can settle it once that process is gone; absent where none is named. */
  readonly holder?: string;
  /** The instant of the reservation, while it is held; absent in rows of versions that did not keep it. */
  readonly began?: number;
  /** How long the call took, once that is known: a later correction says the same. */
  readonly duration_ms?: number;
  /** The instant at which the reservation is settled if nobody has done so. */
  readonly expires: number | null;
  readonly status: "reserved" | "committed" | "released" | "expired";
  readonly charged: Amounts;
  /** All that was ever reported of it, and the estimate that came with it. */
  readonly reported: Amounts;
  readonly estimate: Amounts;
  /** What was charged without anybody having reported it. */
  readonly unreported: readonly string[];
  /** The link that recorded its start, later the one that recorded what it used. */
  readonly link: string | null;
}

type Settled = "asked" | "status" | "charged" | "reported" | "estimate" | "unreported" | "link" | "duration_ms";

/** A call of which more is known. Written out, because every call is settled and a spread takes far longer. */
export function updated(call: Call, changes: Partial<Pick<Call, Settled>>): Call {
  const next = {
    id: call.id,
    budget: call.budget,
    kind: call.kind,
    step_id: call.step_id,
    capability_id: call.capability_id,
    asked: changes.asked ?? call.asked,
    expires: call.expires,
    link: changes.link ?? call.link,
    status: changes.status ?? call.status,
    charged: changes.charged ?? call.charged,
    reported: changes.reported ?? call.reported,
    estimate: changes.estimate ?? call.estimate,
    unreported: changes.unreported ?? call.unreported,
    // So that no field that is added later gets lost here.
  } satisfies Required<Omit<Call, "holder" | "began" | "duration_ms">>;
  const settled: { -readonly [Key in keyof Call]: Call[Key] } = next;
  const duration_ms = changes.duration_ms ?? call.duration_ms;
  if (call.holder !== undefined) settled.holder = call.holder;
  if (duration_ms !== undefined) settled.duration_ms = duration_ms;
  return settled;
}

/** How long a call has taken that is settled now, as it says itself or from its reservation on; null where neither is known. */
export function lastedOf({ began, duration_ms }: Call, told: number | undefined, instant: number): number | null {
  if (told !== undefined) return told;
  if (duration_ms !== undefined) return duration_ms;
  // Somebody may have set the wall clock back.
  return began === undefined ? null : Math.max(0, Math.round(instant - began));
}
