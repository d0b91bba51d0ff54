import type { JsonObject } from "../core/chain/canonical.js";
import { Events } from "../core/events.js";
import { heldIn } from "../core/held.js";
import type { Store } from "../ports/store.js";
import { newName } from "../runtime/names.js";
import { type ApprovalKind, type ApprovalRequest, NO_NEEDS, putApproval, soleWaiting } from "./approval.js";
import { checkpointId } from "./checkpoint.js";
import { digestOf } from "./journal.js";
import { putRun, type RunRecord, record } from "./record.js";

/** Puts a question to a human that no run stands still for. */
export async function requestAbout(
  store: Store,
  run: RunRecord,
  kind: Exclude<ApprovalKind, "budget_extension">,
  action: JsonObject,
  expires_ms: number,
): Promise<ApprovalRequest> {
  const { instant } = store.clock.now();
  const budget = await store.budget(run.budget);
  const consumed = budget === null ? {} : Events.for(store.dimensions).consumed(budget, store.clock.now());
  const held = budget === null ? {} : heldIn(budget, store.dimensions);
  const digest = digestOf(kind, action);
  const who = { run: run.id, checkpoint_id: checkpointId(run.id), digest };
  const request: ApprovalRequest = {
    id: newName(instant),
    status: "pending",
    kind,
    ...who,
    waiting: soleWaiting(who),
    ...NO_NEEDS,
    about: `${kind} ${digest}`,
    budget: null,
    exhausted_dimension: null,
    consumed,
    held,
    limits: {},
    suggested_extension: {},
    action,
    requested: instant,
    expires: instant + expires_ms,
    decision: null,
    consumed_by: null,
    version: 0,
  };
  const asked = record(run, "ApprovalRequested", { approval_id: request.id, kind, digest, expires: request.expires });
  // Named in the run, so that it is taken back when the run ends.
  const named = putRun({ ...run, requests: { ...run.requests, [request.about]: request.id } });
  await store.apply([putApproval(request), asked, named]);
  return { ...request, version: 1 };
}
