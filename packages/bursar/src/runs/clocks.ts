import type { Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { hasEnded, isNew, putRun, type RunRecord, readRun } from "./record.js";

/** A run's clock stands still while nobody drives it. One that shares its parent's budget has no clock of its own. */
export function stopClock({ budget, shares }: RunRecord): readonly Operation[] {
  return shares ? [] : [{ op: "pause", budget }];
}

/**
 * What is written when somebody begins to drive a run: its clock runs from now on, and those of the runs above it, because
 * no call is admitted below a clock that stands still. Who waits for an answer himself stays as he is. When a worker has died,
 * `gone` says how long the run was his: from then on nobody has driven it.
 */
export async function startClocks(store: Store, run: RunRecord, gone: number | null): Promise<readonly Operation[]> {
  const operations: Operation[] = isNew(run) ? startFirst(run) : [...(await started(store, run, gone))];
  for (let id = run.parent; id !== null; ) {
    const document = await store.document("run", id);
    if (document === null) break;
    const above = readRun(document);
    if (above.status === "paused" || hasEnded(above)) break;
    const starts = await started(store, above, null);
    // Held at what it is, or its clock would run on when it has just come to stand still.
    if (starts.length > 0) operations.push(...starts, putRun(above));
    id = above.parent;
  }
  return operations;
}

/** The clock of a new run was stopped when its budget was opened. */
function startFirst({ budget, shares }: RunRecord): Operation[] {
  return shares ? [] : [{ op: "resume", budget }];
}

async function started(
  store: Store,
  { budget, shares }: RunRecord,
  gone: number | null,
): Promise<readonly Operation[]> {
  const found = shares ? null : await store.budget(budget);
  if (found === null) return [];
  if (found.watch.since === null) return [{ op: "resume", budget }];
  return gone === null
    ? []
    : [
        { op: "pause", budget, at: gone },
        { op: "resume", budget },
      ];
}
