import type { Amounts } from "./amount.js";
import type { Budget, BudgetId, Path } from "./budget.js";
import type { CallId } from "./call.js";
import type { Head } from "./chain/link.js";
import type { Opening } from "./children.js";
import type { Decision } from "./decision.js";
import type { Document, Entry } from "./document.js";
import type { Action } from "./events.js";
import type { Extended } from "./extension.js";
import type { Notice } from "./notice.js";
import type { CallKind } from "./usage.js";

/** Who caused an operation: the id of a link. Without it, the budget's allocation or the call's start is the cause. */
interface Caused {
  readonly cause?: string;
}

/** One thing a store can be asked to do. Amounts are in ledger units: read them with `readAmounts` first. */
export type Operation =
  | OpenOperation
  | ReserveOperation
  | CommitOperation
  | ReleaseOperation
  | ExpireOperation
  | ChargeOperation
  | ExtendOperation
  | LifeOperation
  | RecordOperation
  | PutOperation
  | JournalOperation
  | AnchorOperation
  | LookOperation;

/** Opens a budget. It writes into the chain named here, else into its parent's, else into one of its own name. */
export interface OpenOperation extends Caused {
  readonly op: "open";
  readonly parent: BudgetId | null;
  readonly opening: Opening;
  readonly chain?: string;
}

/** All amounts along the path, or none. Asked again with the same call id, it gives the same answer and holds nothing more. */
export interface ReserveOperation extends Caused {
  readonly op: "reserve";
  readonly budget: BudgetId;
  readonly call: CallId;
  readonly kind: CallKind;
  readonly asked: Amounts;
  /** What may be cut to what is left, and how far down: a call that can do with less is not refused, but held to less. */
  readonly least?: Amounts;
  /**
   * What calls like this one have been seen to use, all but a few: held in place of as much of `asked` where others hold something
   * of the same and little is free. Who gets no more than this has to keep to it, as to everything that is granted.
   */
  readonly learned?: Amounts;
  readonly step_id?: string;
  readonly capability_id?: string;
  /** The instant at which a dead holder's reservation is settled: charged for model calls, released for all others. */
  readonly expires?: number;
  /** The process that makes the call, as it is named in the store. */
  readonly holder?: string;
  /** Not to be admitted undoes the whole list, with a `RefusedError`. */
  readonly must?: true;
  /**
   * It is a part of a call that was admitted, such as a request that a tool makes: where all that is left is held, which may be for
   * that very call, what it asks nothing of does not stand in its way.
   */
  readonly inner?: true;
  /** No link is written when it is refused: the caller records refusals itself, many of them in one link. */
  readonly unrecorded?: true;
  /** Nothing at all happens when it is not admitted, as if it had not been asked: the caller asks again, with an amount that it has looked at. */
  readonly tentative?: true;
}

/**
 * Replaces a reservation by what was used. `used` is what was reported; what is missing there is charged as it was seen, else as
 * reserved.
 */
export interface CommitOperation extends Caused {
  readonly op: "commit";
  readonly call: CallId;
  readonly used: Amounts;
  /** What was seen of a call that broke off: an upper bound, charged in place of the reservation and marked as estimated. */
  readonly seen?: Amounts;
  /** What serialized input and output would amount to at most: charged where nothing was reported or reserved. */
  readonly estimate?: Amounts;
  readonly duration_ms?: number;
}

export interface ReleaseOperation extends Caused {
  readonly op: "release";
  readonly call: CallId;
  /** Its holder has died: then it is settled by its kind, as if it had expired. */
  readonly dead?: true;
}

/** Settles reservations whose instant has come, the oldest first and `EXPIRING` at most at a time. */
interface ExpireOperation {
  readonly op: "expire";
}

/** Records usage that was never reserved. It is the truth, so it is never refused. */
export interface ChargeOperation extends Caused {
  readonly op: "charge";
  readonly budget: BudgetId;
  readonly call: CallId;
  readonly used: Amounts;
  readonly step_id?: string;
  readonly capability_id?: string;
  readonly duration_ms?: number;
}

export interface ExtendOperation extends Caused {
  readonly op: "extend";
  readonly budget: BudgetId;
  readonly additional: Amounts;
  readonly approved_by: string;
  readonly reason: string | null;
  /** Not to be granted undoes the whole list, with a `NoRoomError`. */
  readonly must?: true;
}

/** Stops or starts a budget's clock, or ends the budget and returns what is left of it. */
export interface LifeOperation extends Caused {
  readonly op: "pause" | "resume" | "end";
  readonly budget: BudgetId;
  /** A clock may be stopped as of an earlier instant: since then whoever kept it running is gone. */
  readonly at?: number;
}

/** An action of the run's own in the chain of its budget. */
interface RecordOperation extends Caused {
  readonly op: "record";
  readonly budget: BudgetId;
  /** The call that it is about: unless another cause is named, the last link of that call is the cause. */
  readonly call?: CallId;
  readonly action: Action;
}

/**
 * Keeps a document in place of the version that was read, 0 for a new one. When somebody else was faster, the whole list is
 * undone with a `StaleError`: that is how a run that was taken over, or an approval that was answered, stays so.
 */
export interface PutOperation extends Document {
  readonly op: "put";
}

/** Writes an entry of a run's journal. Under a key that is taken nothing is written, and the outcome is what stands there. */
export interface JournalOperation extends Entry {
  readonly op: "journal";
}

/** Records the heads of all chains that have grown since the last time in one chain of the store's own. */
interface AnchorOperation {
  readonly op: "anchor";
}

/** Reads a budget and its ancestors as they stand after the operations before it: no read of its own is needed for that. */
interface LookOperation {
  readonly op: "look";
  readonly budget: BudgetId;
}

interface Recorded {
  /** The ids of the links written, in order. */
  readonly links: readonly string[];
}

export type Outcome =
  | ({ readonly op: "open"; readonly decision: Decision; readonly budget: Budget | null } & Recorded)
  | ({
      readonly op: "reserve";
      readonly decision: Decision;
      /** What is held: as much as was asked for, unless it could be cut. */
      readonly granted: Amounts;
      readonly notices: readonly Notice[];
      /** How many milliseconds the path has left by its clocks and deadlines; null without a limit, absent where nobody has looked. */
      readonly left_ms?: number | null;
    } & Repeatable)
  | ({ readonly op: "commit" | "charge"; readonly charged: Amounts; readonly estimated: boolean } & Settled)
  | ({ readonly op: "release" } & Settled)
  | ({ readonly op: "expire"; readonly calls: readonly CallId[] } & Recorded)
  | ({ readonly op: "extend"; readonly result: Extended } & Recorded)
  | ({ readonly op: "pause" | "resume" | "end"; readonly budget: Budget } & Recorded)
  | ({ readonly op: "record" } & Recorded)
  | ({ readonly op: "put"; readonly document: Document } & Recorded)
  | ({ readonly op: "journal"; readonly entry: Entry } & Repeatable)
  | ({ readonly op: "anchor"; readonly heads: readonly Head[] } & Recorded)
  | ({ readonly op: "look"; readonly path: Path } & Recorded);

/** `repeated` is true when this had been done before, and so nothing was done now. */
interface Repeatable extends Recorded {
  readonly repeated: boolean;
}

interface Settled extends Repeatable {
  readonly notices: readonly Notice[];
}

/** The outcome that belongs to an operation. */
export type OutcomeOf<O extends Operation, All extends Outcome = Outcome> = All extends Outcome
  ? O["op"] extends All["op"]
    ? All
    : never
  : never;
