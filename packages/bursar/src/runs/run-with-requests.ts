import type { Store } from "../ports/store.js";
import type { ApprovalRequest } from "./approval.js";
import { pendingRequests } from "./decisions.js";
import { type RunRecord, readRun } from "./record.js";

/** A run, and what somebody has to answer before it goes on, as both were at one moment. */
export interface RunWithRequests {
  readonly run: RunRecord;
  /** None unless it is paused. */
  readonly requests: readonly ApprovalRequest[];
}

/** So often it is looked again at a run that others move meanwhile. */
const MOST_TURNS = 20;

/**
 * Looks for what a run waits for. Somebody may decide between the look at the run and the look at its requests: then the run is given
 * as it is by now, and not as one that stands still for nothing.
 */
export async function runWithRequests(store: Store, known: RunRecord): Promise<RunWithRequests> {
  let run = known;
  for (let turn = 1; run.status === "paused"; turn++) {
    const requests = await pendingRequests(store, run.id);
    const document = await store.document("run", run.id);
    if (document === null || document.version === run.version || turn >= MOST_TURNS) return { run, requests };
    run = readRun(document);
  }
  return { run, requests: [] };
}
