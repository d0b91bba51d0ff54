import type { Amounts } from "../core/amount.js";
import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { Decision } from "../core/decision.js";
import type { Action } from "../core/events.js";
import type { BudgetAmounts } from "../core/input.js";
import type { CallKind } from "../core/usage.js";
import type { BatchTerms } from "../ports/batches.js";
import type { AnswerNote } from "../ports/model.js";
import type { OwnEffect } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Gate } from "../runtime/gate.js";
import type { RunRecord } from "./record.js";

/** What is to be done for an effect that a program has asked for. */
export type Deed = ValueDeed | SleepDeed | CallDeed | BatchDeed | ChildDeed;

/** Nothing happens in the world; the program is told something that will be the same in every replay. */
interface ValueDeed {
  readonly kind: "value";
  readonly value: Json;
  /** Leaves word in the chain. */
  readonly record?: { readonly action_type: string; readonly data: JsonObject };
}

interface SleepDeed {
  readonly kind: "sleep";
  readonly until: number;
}

/** Something happens, inside the budget. */
export interface CallDeed {
  readonly kind: "call";
  readonly capability_id: string;
  readonly call: CallKind;
  /** The most it may use, in edge units. */
  readonly asked: BudgetAmounts;
  /** Whether it names no money because the model has no price. */
  readonly unpriced?: boolean;
  /** How far that may be cut to what is left, in edge units. What is not named here is not cut. */
  readonly least?: BudgetAmounts;
  /** What was seen of it when it was given up, in edge units: that is charged where it does not say what it used. */
  readonly seen?: () => BudgetAmounts;
  /** What calls like it have used, all but a few, in ledger units: where others hold something, that is held for it instead. */
  readonly learned?: Amounts;
  /** It is the final answer, which may use what was set aside for it. */
  readonly final?: boolean;
  /** A human has to say yes to this very action first. */
  readonly approval?: boolean;
  /** What to do when it is not known whether it has happened, because the worker died in the middle: `repeat` unless it says otherwise. */
  readonly interrupted?: "repeat" | "fail";
  /** Leaves word in the chain before it is made. */
  readonly record?: Action;
  /** Told when that could not be written, because the run was lost. */
  readonly unwritten?: () => void;
  /** What a decision that does not let it in means. */
  readonly judge?: (decision: Decision) => Decision;
  /** Told when it was made, or never will be. */
  readonly over?: () => void;
  readonly make: (doing: Doing) => Promise<Made>;
}

/** A model call that can wait: it is handed over, and the run need not be driven until it is answered. */
export interface BatchDeed {
  readonly kind: "batch";
  readonly final: boolean;
  readonly terms: BatchTerms;
  /** Leaves word in the chain before anything is held for it. */
  readonly record?: Action;
  /** Told when that could not be written, because the run was lost. */
  readonly unwritten?: () => void;
  /** What a decision that does not let it in means. */
  readonly judge?: (decision: Decision) => Decision;
  /** Told when it was let in, or will not be. */
  readonly over?: (admitted: boolean) => void;
}

/** A program below this one. */
interface ChildDeed {
  readonly kind: "child";
  readonly child: ChildRequest;
}

export interface ChildRequest {
  readonly program: string;
  readonly input: Json;
  readonly grant: ChildGrant;
}

/** What a child may use: what its parent has, a part of what is left of it, or so much. */
export type ChildGrant =
  | { readonly kind: "share" }
  | {
      readonly kind: "fraction";
      readonly of: number;
      /** What it gets at most, however much its part is. */
      readonly limits: JsonObject;
      readonly policies: JsonObject;
    }
  | { readonly kind: "limits"; readonly limits: JsonObject; readonly policies: JsonObject };

/** What an effect has to go by while it happens. */
export interface Doing {
  readonly signal: AbortSignal;
  /** The same for every try, so that the other side can tell a second one from a new one. */
  readonly key: string;
  /** Of this try. */
  readonly call_id: string;
  /** Names a call that is made inside of this one, each time another. */
  readonly inner: () => string;
  readonly run: RunRecord;
  readonly gate: Gate;
  /** What is held for it, in ledger units. */
  readonly granted: Amounts;
}

/** What an effect gives back: a value for the program, and anything that may carry usage. */
export interface Made {
  readonly value: unknown;
  readonly usage?: unknown;
  /** A result in which usage is looked for that has not been charged to calls inside of the effect; goes before `usage`. */
  readonly report?: unknown;
  /** Leaves word in the chain with what it is charged. */
  readonly record?: Action;
  /** What the chain is told of the price of a model's answer. */
  readonly notes?: readonly AnswerNote[];
}

/** What a handler may know about the run when it decides what is to be done. */
export interface Asking {
  readonly run: RunRecord;
  readonly number: number;
  /** When the program asked for the first time. */
  readonly instant: number;
  /** The store, as the run writes into it. */
  readonly store: Store;
  /** Waits until what the program was told is in the books: it hears of an answer before that is charged. */
  readonly settled: () => Promise<void>;
  /** What the run has used and what it has left, as its program may see it. */
  readonly budget: () => Promise<JsonObject>;
  /** What the program itself brought along to be done. */
  readonly own: OwnEffect | null;
}

/** Turns what a program asks for into a deed, by the name of what it asks for. It throws when the program asks for nonsense. */
export type Handler = (args: Json, asking: Asking) => Deed | Promise<Deed>;
export type Handlers = Readonly<Record<string, Handler>>;
