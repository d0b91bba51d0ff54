import { type ApprovalRequest, type Bursar, claimOf, type RunRecord, runOfCheckpoint } from "bursar";
import { rootOf } from "../store/run-root.js";

/** The run that was named in place of a request, if it waits for it; else the first that does. */
export function namedRun(word: string, request: ApprovalRequest): string {
  const first = request.run ?? "";
  if (request.id.startsWith(word)) return first;
  const name = runOfCheckpoint(word) ?? word;
  const runs = request.waiting.flatMap(({ run }) => (run === null ? [] : [run]));
  const below = runs.find((run) => run === name) ?? runs.find((run) => run.startsWith(`${name}.`));
  if (below !== undefined) return below;
  return runs.find((run) => run.startsWith(name)) ?? first;
}

/** Drives to where they stand still the other runs that have waited for the same answer, and that nobody else has taken. */
export async function driveOthers(bursar: Bursar, { waiting }: ApprovalRequest, driven: RunRecord): Promise<void> {
  const roots = new Map<string, RunRecord>();
  for (const { run } of waiting) {
    if (run === null) continue;
    const root = await rootOf(bursar.store, await bursar.find(run));
    if (root.id !== driven.id) roots.set(root.id, root);
  }
  await Promise.all([...roots.keys()].map((id) => driveFree(bursar, id)));
}

/** One that needs a module or a model which is not here is left to a worker. */
async function driveFree(bursar: Bursar, id: string): Promise<void> {
  const { worker } = await claimOf(bursar.store, id);
  if (worker !== null && !bursar.isDriving(id)) return;
  await bursar.drive(id).catch(() => {});
}
