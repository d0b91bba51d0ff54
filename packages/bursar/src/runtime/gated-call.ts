import type { Amounts } from "../core/amount.js";
import type { BudgetId, Path } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import type { Decision } from "../core/decision.js";
import { InputError, show } from "../core/errors.js";
import type { BudgetAmounts } from "../core/input.js";
import type { CommitOperation, Operation, OutcomeOf } from "../core/operation.js";
import type { CallKind } from "../core/usage.js";
import type { BudgetWarning } from "./budget-warning.js";

/** A call that wants to be made. */
export interface GatedCall {
  readonly budget: BudgetId;
  readonly capability_id: string;
  readonly kind?: CallKind;
  /** The most it may use, in edge units. One step is added when none is named. */
  readonly asked?: BudgetAmounts;
  /** The same in ledger units, for who has them so: then neither `asked` nor `least` is read. */
  readonly ledger?: { readonly asked: Amounts; readonly least?: Amounts; readonly learned?: Amounts };
  /** How far what is asked for may be cut to what is left, in edge units. What is not named here is not cut. */
  readonly least?: BudgetAmounts;
  /** What is sent, for the estimate where the other side reports no usage. */
  readonly input?: unknown;
  readonly call_id?: CallId;
  readonly step_id?: string;
  readonly wait_ms?: number;
  readonly signal?: AbortSignal;
  /** Whether the effect ends by itself when the signal it is given fires; one that does not say so is left behind. */
  readonly heeds?: true;
  /** When a dead holder's reservation is settled; the longest the call can take, with room to spare. */
  readonly expires_ms?: number;
  /**
   * Asked when the call is over: what was seen of it at most, in edge units. It is charged where no usage is known, marked as
   * estimated, in place of the reservation.
   */
  readonly seen?: () => BudgetAmounts | null;
  /**
   * Asked when the call has failed or was broken off: what the other side had said by then that it used, for good and in ledger
   * units. It is charged as if the call had given it back by itself; null where it has said nothing.
   */
  readonly reported?: () => Amounts | null;
  /**
   * Asked when the call is over, however it ended, with what it has reported in ledger units: what is written in the transaction of its
   * settlement.
   */
  readonly alongside?: (reported: Amounts) => readonly Operation[];
  /** The path of the budget, for who has just read it; it is read otherwise. */
  readonly path?: Path;
  /** Whether it is a part of a call that was admitted: it waits for nobody who waits for that one. */
  readonly inner?: true;
  /** No link is written when it is refused: the caller records refusals itself. */
  readonly unrecorded?: true;
  /** Nothing happens when it does not fit at once: it is refused, waits for nothing, and leaves no trace. */
  readonly tentative?: true;
  /** Whether the outcome tells how the path stands after the settlement. */
  readonly pathAfter?: true;
  /** Told when the call has to wait for holds in flight. */
  readonly onWait?: () => void;
}

/** What an effect gives back: its value, and anything that may carry usage. */
export interface Effected<Value> {
  readonly value: Value;
  readonly usage?: unknown;
  /** What it used, in ledger units, for who knows it so: then `usage` is not read. */
  readonly used?: Amounts;
  /** What is written in the same transaction as the settlement. */
  readonly alongside?: readonly Operation[];
}

/** What an effect gave, if it is anything that an effect may give. */
export function checkEffected<Value>(result: unknown): Effected<Value> {
  if (typeof result === "object" && result !== null && "value" in result) return result as Effected<Value>;
  throw new InputError("effect", `gave ${show(result)}; allowed: an object with value, and usage where it is known`);
}

/**
 * How a governed call ended. A refusal is no exception: nothing was called. The `warnings` are the thresholds that its reservation and
 * its settlement have crossed, so that a caller who logs them hears of each once.
 */
export type Gated<Value> = { readonly warnings: readonly BudgetWarning[] } & (
  | ({ readonly kind: "done"; readonly value: Value } & SettledCall)
  | ({ readonly kind: "failed"; readonly error: unknown } & SettledCall)
  | { readonly kind: "refused"; readonly decision: Decision; readonly message: string }
);

/** What a call has come to in the store. */
export interface SettledCall {
  readonly settled: OutcomeOf<CommitOperation>;
  /** The path of its budget after that, for who has asked for it with `pathAfter`. */
  readonly path?: Path;
}

/** An effect, told what is held for it and when to stop. */
export type Effect<Value> = (signal: AbortSignal, granted: Amounts) => Promise<Effected<Value>>;
