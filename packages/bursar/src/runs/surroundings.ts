import type { Json } from "../core/chain/canonical.js";
import type { Output } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import type { Timer } from "../ports/timer.js";
import type { ChildRequest, Handlers } from "./deed.js";
import type { AskEntry } from "./journal.js";
import type { RunRecord } from "./record.js";

/** What is around a run while it is driven. */
export interface Surroundings {
  readonly store: Store;
  readonly timer: Timer;
  readonly handlers: Handlers;
  readonly claim_ms: number;
  readonly approval_ms: number;
  readonly children: Children;
  /** What programs are told of an error of a tool or model: its message, unless somebody says otherwise. */
  readonly describeError: ((error: unknown, capability: string) => string) | null;
  /** Whether what runs took in the end is kept for those to come. */
  readonly learns: boolean;
  /** Told what the program of a run has written so far; null when nobody looks. */
  readonly printed: ((run: string, output: Output) => void) | null;
}

/** What is below a run. */
export interface Children {
  has(parent: RunRecord, number: number): Promise<boolean>;
  /** Starts nothing any more when the signal has come. */
  start(parent: RunRecord, number: number, request: ChildRequest, signal: AbortSignal): Promise<void>;
  /** What a child gives back. `paused` is told whenever it stands still, or goes on again. */
  wait(
    parent: RunRecord,
    number: number,
    paused: (is: boolean, child: string) => void,
    signal: AbortSignal,
  ): Promise<Json>;
  /** Ends what is left of the children of a run that has ended. */
  end(parent: RunRecord, open: readonly AskEntry[]): Promise<void>;
}
