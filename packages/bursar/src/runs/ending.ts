import type { Budget } from "../core/budget.js";
import type { Json } from "../core/chain/canonical.js";
import { StaleError } from "../core/document.js";
import type { BursarError } from "../core/errors.js";
import type { Operation } from "../core/operation.js";
import type { Execution, Output } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import { type Checkpoint, emptied } from "./checkpoint.js";
import type { Desk } from "./desk.js";
import { ClaimLostError, type ReplayError } from "./error.js";
import { learned } from "./learning.js";
import { withdrawFrom } from "./open-request.js";
import { type Failure, putRun, type RunRecord, readRun, record } from "./record.js";

/** Why a run is not driven any further. */
export type Ending =
  | { readonly kind: "returned"; readonly value: Json }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "paused" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "stopped" }
  | { readonly kind: "abandoned" }
  /** It did something else than it had done before. */
  | { readonly kind: "diverged"; readonly error: ReplayError }
  /** This process cannot go on with it. */
  | { readonly kind: "lacking"; readonly error: BursarError }
  | { readonly kind: "broken"; readonly error: unknown };

/** What becomes of a run when its driver leaves it: the run as it is from now on, and what is written with it. */
export interface Left {
  readonly run: RunRecord;
  readonly operations: readonly Operation[];
}

/** What is written when a run has ended: last of all, what it used in the end. Others learn from it, unless nobody is to. */
export async function lastWords(
  desk: Desk,
  run: RunRecord,
  checkpoint: Checkpoint,
  end: {
    readonly status: "completed" | "failed" | "cancelled";
    readonly result: Json;
    readonly failure: Failure | null;
    readonly output: Output;
    readonly execution: Execution | null;
    readonly learns: boolean;
  },
  isRetry: boolean,
): Promise<Left> {
  const { learns, ...told } = end;
  const { status, failure } = told;
  // What the program has used at last may not be written yet, and has to count.
  if (learns) await desk.written();
  const ended = desk.clock.now().instant;
  const done: RunRecord = { ...run, ...told, ended, pause: null, requests: {} };
  const operations: Operation[] = [
    record(run, "RunEnded", { status, ...(failure !== null && { failure }) }),
    ...(await withdrawFrom(desk, run.id, run.requests)),
    ...(learns ? await learned(desk, done, isRetry) : []),
  ];
  if (checkpoint.version > 0) operations.push(emptied(checkpoint));
  if (run.wrap_up !== null) operations.push({ op: "end", budget: run.wrap_up });
  if (!run.shares) operations.push({ op: "end", budget: run.budget });
  return { run: done, operations };
}

/** A run that is not driven any more. */
export interface LeftRun {
  readonly run: RunRecord;
  /** Its budget as it has ended; null where the run has not, or has none of its own. */
  readonly budget: Budget | null;
}

/**
 * Writes what becomes of a run that its driver leaves. The driver knows the run as it was claimed; what others have written of it
 * meanwhile is read when that turns out to be old.
 */
export async function leaveRun(
  store: Store,
  desk: Desk,
  claimed: RunRecord,
  make: (run: RunRecord, isRetry: boolean) => Left | Promise<Left>,
): Promise<LeftRun> {
  for (let known = claimed; ; ) {
    const { run, operations } = await make(known, known !== claimed);
    try {
      const outcomes = await desk.leave([putRun(run), ...operations]);
      const ended = outcomes.find((outcome) => outcome.op === "end" && outcome.budget.id === run.budget);
      return { run: { ...run, version: run.version + 1 }, budget: ended?.op === "end" ? ended.budget : null };
    } catch (error) {
      // Others write to the run, join its request or answer it at the same moment.
      if (!(error instanceof StaleError)) throw error;
    }
    const document = await store.document("run", claimed.id);
    if (document === null) throw new ClaimLostError(claimed.id);
    known = readRun(document);
  }
}
