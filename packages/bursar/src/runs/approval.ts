import type { JsonObject } from "../core/chain/canonical.js";
import { type Document, StaleError } from "../core/document.js";
import type { PutOperation } from "../core/operation.js";
import type { Store } from "../ports/store.js";

export type ApprovalKind = "budget_extension" | "capability_execution" | "server_discovery";
/** `withdrawn` when the run has ended before anybody answered. */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "withdrawn";

/** What a human is asked, and what came of it. */
export interface ApprovalRequest {
  readonly id: string;
  readonly status: ApprovalStatus;
  readonly kind: ApprovalKind;
  /** The run that stands still for it; null when a budget is asked for alone, as by a client of the gateway. */
  readonly run: string | null;
  readonly checkpoint_id: string | null;
  /** What it is about, once per run: a dimension of a budget, or one action. */
  readonly about: string;
  /** The budget that would be extended; null when none is. */
  readonly budget: string | null;
  readonly exhausted_dimension: string | null;
  /** In edge units, as it stood when it was asked. */
  readonly consumed: JsonObject;
  /** What was reserved in that budget at the same moment, by whomever: neither used nor free. */
  readonly held: JsonObject;
  readonly limits: JsonObject;
  readonly suggested_extension: JsonObject;
  /** The action that is waiting, and its digest: a yes is for this one and no other. */
  readonly action: JsonObject;
  readonly digest: string;
  readonly requested: number;
  readonly expires: number;
  readonly decision: Decided | null;
  /** The call that has used it up. */
  readonly consumed_by: string | null;
  readonly version: number;
}

export interface Decided {
  readonly by: string;
  readonly at: number;
  readonly reason: string | null;
  /** What was granted, in edge units. */
  readonly extension: JsonObject;
}

export function readApproval({ id, status, body, version }: Document): ApprovalRequest {
  const { held, ...kept } = body as unknown as ApprovalRequest;
  // Requests that were stored before holds were kept say nothing of them.
  return { ...kept, held: held ?? {}, id, status: status as ApprovalStatus, version };
}

export function putApproval(request: ApprovalRequest): PutOperation {
  const { id, status, version, ...body } = request;
  const json = body as unknown as JsonObject;
  return { op: "put", kind: "approval", id, budget: request.budget, status, body: json, version };
}

/** Takes back what a run has asked for and nobody has answered. */
export async function withdrawals(store: Store, requests: Readonly<Record<string, string>>): Promise<PutOperation[]> {
  const operations: PutOperation[] = [];
  for (const id of Object.values(requests)) {
    const document = await store.document("approval", id);
    if (document?.status === "pending")
      operations.push(putApproval({ ...readApproval(document), status: "withdrawn" }));
  }
  return operations;
}

/** Uses a yes up, which is for one action and for one time; `key` says for which. Null when nobody has decided yet. */
export async function useApproval(
  store: Store,
  id: string | undefined,
  key: string,
): Promise<"approved" | "denied" | null> {
  const document = id === undefined ? null : await store.document("approval", id);
  if (document === null) return null;
  const request = readApproval(document);
  const { status, consumed_by } = request;
  if (status === "denied") return "denied";
  if (status !== "approved" || (consumed_by !== null && consumed_by !== key)) return null;
  if (consumed_by === key) return "approved";
  try {
    await store.apply([putApproval({ ...request, consumed_by: key })]);
    return "approved";
  } catch (error) {
    // Another effect, the same in every letter, was faster.
    if (error instanceof StaleError && error.kind === "approval") return null;
    throw error;
  }
}
