import { AsyncLocalStorage } from "node:async_hooks";
import type { BudgetId } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import type { Decision } from "../core/decision.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Store } from "../ports/store.js";
import type { Gate } from "./gate.js";

/** Where the calls that are made now are paid for. */
export interface Purse {
  readonly gate: Gate;
  readonly store: Store;
  readonly budget: BudgetId;
  /** The chain that the budget writes into. */
  readonly chain: string;
  /** Asked when a call needs a person's approval: what to add to the budget, or null to leave it refused. */
  readonly approve?: (request: ApprovalQuestion) => Promise<BudgetAmounts | null>;
  /** How long a call waits for what others hold, unless it says so itself; else as long as the gate waits. */
  readonly wait_ms?: number;
  /** What is reserved already for the call that is being made; null when nothing is. */
  readonly hold?: Hold;
  /** What the next reservation asks for on top, once. */
  readonly round?: Round;
  /** Whose holds, left behind because they could not be handed down, the next request takes; anybody's, unless it is said. */
  readonly leaver?: string;
  /** Names the calls that are made from it, where whoever holds it has to find them again; they name themselves otherwise. */
  readonly name?: () => CallId;
  /** Told when a call does not fit, because frameworks swallow the error that says so. */
  readonly refused?: (decision: Decision, message: string) => void;
  /** Set where the refusals of its calls are recorded by its holder, many of them in one link. */
  readonly unrecorded?: true;
  /** The place in a program that its calls come from, by any name; known by the shapes of the requests, unless it is said. */
  readonly site?: string;
  /** Whose calls they are, where calls of the same shape are not alike: a program's, or a key's. */
  readonly within?: string;
  /** Whether calls hold as much as their answers may have at most, however scarce that is. */
  readonly full?: boolean;
  /** Set when anything asks for this purse, which whatever is governed does. */
  readonly mark?: PurseMark;
  /** Whether somebody further out meters the call that is being made, so that nobody does so again. */
  readonly metered?: true;
}

/** Whether anything has asked for a purse. */
export interface PurseMark {
  isUsed: boolean;
}

/** What a person is asked when a budget with the policy `approval_required` does not take a call. All in edge units. */
export interface ApprovalQuestion {
  readonly budget: BudgetId;
  readonly dimension: string;
  readonly asked: number;
  readonly used: number;
  readonly limit: number;
  readonly suggested_extension: BudgetAmounts;
  readonly message: string;
}

/**
 * A reservation that was made further out, by an adapter that sees calls and not requests. Whoever meters the request itself
 * takes its place, because he knows better what it may cost, and how often it is sent.
 */
export interface Hold {
  /** Gives the reservation back. From then on, whoever made it charges nothing for it. */
  handDown(): Promise<void>;
}

/** A round of an agent's loop: it counts with the first request that is made for it, and not again when that is sent again. */
export interface Round {
  /** In edge units. */
  readonly amounts: BudgetAmounts;
  counted: boolean;
}

// Two copies of this module in one process, such as a preloaded one beside an application's own, share their purses.
const KEY = Symbol.for("bursar.purse.1");
const ROOT = Symbol.for("bursar.root.1");
const shared = globalThis as { [KEY]?: AsyncLocalStorage<Purse>; [ROOT]?: Purse };
shared[KEY] ??= new AsyncLocalStorage<Purse>();
const storage: AsyncLocalStorage<Purse> = shared[KEY];

/** The purse of whoever asks: the one around him, else the one of the whole process; null where there is neither. */
export function currentPurse(): Purse | null {
  const purse = storage.getStore() ?? shared[ROOT] ?? null;
  if (purse?.mark !== undefined) purse.mark.isUsed = true;
  return purse;
}

/** Whether everything that is sent in this process with the global `fetch` is governed. */
export function hasRootPurse(): boolean {
  return shared[ROOT] !== undefined;
}

/** Sets what pays for everything in this process that is made outside of any budget, and what its budgets lie in. */
export function setRootPurse(purse: Purse): void {
  shared[ROOT] = purse;
}

export function withPurse<Value>(purse: Purse, run: () => Value): Value {
  return storage.run(purse, run);
}
