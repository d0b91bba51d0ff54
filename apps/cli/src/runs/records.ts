import type { ApprovalRequest, ApprovalStatus, Document, RunRecord, RunStatus } from "bursar";

/** A run as the store keeps it. */
export function readRun({ id, status, body, version }: Document): RunRecord {
  return { ...(body as unknown as RunRecord), id, status: status as RunStatus, version };
}

/** A request as the store keeps it. */
export function readApproval({ id, status, body, version }: Document): ApprovalRequest {
  return { ...(body as unknown as ApprovalRequest), id, status: status as ApprovalStatus, version };
}

export const ENDED: ReadonlySet<RunStatus> = new Set(["completed", "failed", "cancelled"]);
