import type { Store } from "../ports/store.js";
import type { ApprovalRequest } from "../runs/approval.js";
import { readRun } from "../runs/record.js";
import { predictionIn } from "./prediction.js";
import type { ApprovalView } from "./shapes.js";

/** What a human is asked, with the name of the program that waits. */
export async function approvalView(store: Store, request: ApprovalRequest): Promise<ApprovalView> {
  const document = request.run === null ? null : await store.document("run", request.run);
  const { id, status, kind, run, budget, checkpoint_id, exhausted_dimension } = request;
  const { consumed, held, limits, suggested_extension, action, requested, expires, decision } = request;
  return {
    ...{ id, status, kind, run, program: document === null ? null : readRun(document).program.name, budget },
    ...{
      checkpoint_id,
      exhausted_dimension,
      consumed,
      held,
      limits,
      suggested_extension,
      action,
      prediction: predictionIn(request, store.dimensions),
      requested,
      expires,
      decision,
    },
    missing: [],
  };
}
