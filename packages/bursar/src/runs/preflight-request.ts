import type { JsonObject } from "../core/chain/canonical.js";
import type { Dimensions } from "../core/dimensions.js";
import type { Operation } from "../core/operation.js";
import type { Store } from "../ports/store.js";
import { newName } from "../runtime/names.js";
import { type ApprovalRequest, NO_NEEDS, putApproval, readApproval, soleWaiting } from "./approval.js";
import { stopId } from "./checkpoint.js";
import { digestOf } from "./journal.js";
import { type Checked, describePreflight } from "./preflight.js";
import { type Pause, putRun, type RunRecord, record } from "./record.js";

/** What the request of a run that has not begun is about. While it is named in the run, the run does not begin. */
const ABOUT = "preflight";

/** Whether a run waits for an answer before it begins. */
export function isHeldBack({ requests }: RunRecord): boolean {
  return requests[ABOUT] !== undefined;
}

/** The request that a run waits for before it begins, or undefined. */
export function requestOf({ requests }: RunRecord): string | undefined {
  return requests[ABOUT];
}

/** A run that may begin. */
export function letGo(run: RunRecord): RunRecord {
  const { [ABOUT]: _, ...requests } = run.requests;
  return { ...run, requests };
}

/** A new run that stands still before it begins, and what is written for that. */
export function heldBack(
  run: RunRecord,
  checked: Checked,
  { dimensions, approval_ms }: { readonly dimensions: Dimensions; readonly approval_ms: number },
): { readonly run: RunRecord; readonly operations: readonly Operation[] } {
  const { id, budget, created } = run;
  const action: JsonObject = {
    name: ABOUT,
    program: run.program.name,
    ...describePreflight(checked.preflight, dimensions),
  };
  const who = { run: id, checkpoint_id: stopId(id, 0), digest: digestOf(ABOUT, action) };
  const request: ApprovalRequest = {
    id: newName(created),
    status: "pending",
    kind: "budget_extension",
    ...who,
    waiting: soleWaiting(who),
    about: ABOUT,
    budget,
    exhausted_dimension: null,
    consumed: checked.consumed,
    held: checked.held,
    limits: checked.limits,
    suggested_extension: { ...checked.suggested },
    action,
    ...NO_NEEDS,
    requested: created,
    expires: created + (run.approval_ms ?? approval_ms),
    decision: null,
    consumed_by: null,
    version: 0,
  };
  return asking(run, request);
}

/**
 * Asks again when nobody has answered in time. A run that waits for an answer before it begins goes on waiting; null when it does
 * not wait for any.
 */
export async function askedAnew(
  store: Store,
  run: RunRecord,
  approval_ms: number,
): Promise<readonly Operation[] | null> {
  const asked = requestOf(run);
  const document = asked === undefined || run.status !== "paused" ? null : await store.document("approval", asked);
  if (document === null) return null;
  const before = readApproval(document);
  const { instant } = store.clock.now();
  if (before.status === "pending" && before.expires > instant) return [];
  const expires = instant + (run.approval_ms ?? approval_ms);
  const fresh = { id: newName(instant), status: "pending", decision: null, version: 0 } as const;
  const { run: waiting, operations } = asking(run, { ...before, ...fresh, requested: instant, expires });
  const over = before.status === "pending" ? [putApproval({ ...before, status: "expired" })] : [];
  return [...over, ...operations, putRun(waiting)];
}

function asking(run: RunRecord, request: ApprovalRequest) {
  const { id, kind, consumed, held, limits, suggested_extension, digest, expires, requested } = request;
  const pause: Pause = {
    checkpoint_id: stopId(run.id, 0),
    at: requested,
    approvals: [id],
    requested: [id],
    children: [],
    exhausted_dimension: null,
  };
  const figures = { consumed, held, limits, suggested_extension };
  const operations: Operation[] = [
    putApproval(request),
    record(run, "RunPaused", { ...pause, approvals: [id], requested: [id], children: [] }),
    record(run, "ApprovalRequested", { approval_id: id, kind, exhausted_dimension: null, ...figures, digest, expires }),
  ];
  const paused: RunRecord = { ...run, status: "paused", pause, requests: { ...run.requests, [ABOUT]: id } };
  return { run: paused, operations };
}
