import type { Json } from "../core/chain/canonical.js";
import type { Operation } from "../core/operation.js";
import type { Output } from "../ports/program.js";
import type { Store } from "../ports/store.js";
import { withdrawals } from "./approval.js";
import { type Checkpoint, emptied } from "./checkpoint.js";
import { type Failure, type RunRecord, record } from "./record.js";

/** Why a run is not driven any further. */
export type Ending =
  | { readonly kind: "returned"; readonly value: Json }
  | { readonly kind: "threw"; readonly error: unknown }
  | { readonly kind: "paused" }
  | { readonly kind: "cancelled" }
  | { readonly kind: "stopped" }
  | { readonly kind: "abandoned" }
  | { readonly kind: "broken"; readonly error: unknown };

/** What becomes of a run when its driver leaves it: the run as it is from now on, and what is written with it. */
export interface Left {
  readonly run: RunRecord;
  readonly operations: readonly Operation[];
}

/** What is written when a run has ended: last of all, what it used in the end. */
export async function lastWords(
  store: Store,
  run: RunRecord,
  checkpoint: Checkpoint,
  end: {
    readonly status: "completed" | "failed" | "cancelled";
    readonly result: Json;
    readonly failure: Failure | null;
    readonly output: Output;
  },
): Promise<Left> {
  const { status, result, failure, output } = end;
  const ended = store.clock.now().instant;
  const done: RunRecord = { ...run, status, result, failure, output, ended, pause: null, requests: {} };
  const operations: Operation[] = [
    record(run, "RunEnded", { status, ...(failure !== null && { failure }) }),
    ...(await withdrawals(store, run.requests)),
  ];
  if (checkpoint.version > 0) operations.push(emptied(checkpoint));
  if (run.wrap_up !== null) operations.push({ op: "end", budget: run.wrap_up });
  if (!run.shares) operations.push({ op: "end", budget: run.budget });
  return { run: done, operations };
}
