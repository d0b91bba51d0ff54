import type { Store } from "../ports/store.js";
import type { BursarOptions } from "./bursar-options.js";
import { findApproval } from "./decisions.js";
import type { RunRecord } from "./record.js";

/** Tells what a run that has paused asks for. What was asked for before has been told before. */
export function tellRequested(
  webhook: NonNullable<BursarOptions["webhook"]>,
  store: Store,
  { pause }: Pick<RunRecord, "pause">,
): void {
  for (const id of pause?.requested ?? []) {
    findApproval(store, id)
      .then((request) => webhook.tell("approval.requested", request))
      .catch(() => {});
  }
}
