import type { Store } from "../ports/store.js";
import type { ApprovalRequest } from "../runs/approval.js";
import { readRun } from "../runs/record.js";
import { currentRequest } from "../runs/request-needs.js";
import { predictionIn } from "./prediction.js";
import type { ApprovalView } from "./shapes.js";

/** What a human is asked, as it stands by now, with the name of the program that waits. */
export async function approvalView(store: Store, asked: ApprovalRequest): Promise<ApprovalView> {
  const request = await currentRequest(store, asked);
  const document = request.run === null ? null : await store.document("run", request.run);
  const { id, status, kind, run, budget, checkpoint_id, exhausted_dimension } = request;
  const { consumed, held, limits, suggested_extension, action, requested, expires, decision } = request;
  const { waiting, needs, needs_together, left, least_extension, message } = request;
  return {
    id,
    status,
    kind,
    run,
    program: document === null ? null : readRun(document).program.name,
    budget,

    checkpoint_id,
    exhausted_dimension,
    waiting,
    needs,
    needs_together,
    left,
    least_extension,
    message,
    consumed,
    held,
    limits,
    suggested_extension,
    action,
    prediction: predictionIn(request, store.dimensions),
    requested,
    expires,
    decision,
    missing: [],
  };
}
