import type { JsonObject } from "../core/chain/canonical.js";
import { type Document, StaleError } from "../core/document.js";
import type { PutOperation } from "../core/operation.js";
import type { Store } from "../ports/store.js";

export type ApprovalKind = "budget_extension" | "capability_execution" | "server_discovery";
/** `withdrawn` when the run has ended before anybody answered. */
export type ApprovalStatus = "pending" | "approved" | "denied" | "expired" | "withdrawn";

/** Calls of one run, or of the clients of a budget, that wait for the same answer. Amounts are in edge units. */
export interface WaitingCalls {
  /** The run that stands still; null for clients of a budget, such as those of a key. */
  readonly run: string | null;
  readonly checkpoint_id: string | null;
  /** What the first of them wants to do: `llm`, or the name of a tool. */
  readonly name: string;
  readonly digest: string;
  readonly calls: number;
  /** How much of the dimension the smallest and the largest of them ask for, and all of them together. */
  readonly smallest: number;
  readonly largest: number;
  readonly together: number;
}

/** What the waiting calls of a request need, and what there is. Amounts are in edge units, by dimension. */
export interface RequestNeeds {
  /** The most that a single waiting call may need; empty where the request is not about a dimension. */
  readonly needs: JsonObject;
  /** What all waiting calls may need together. */
  readonly needs_together: JsonObject;
  readonly left: JsonObject;
  /** The smallest extension that lets a waiting call go on; less is refused. */
  readonly least_extension: JsonObject;
  /** The same in a sentence; empty where the request is not about a dimension. */
  readonly message: string;
}

/** What a human is asked, and what came of it. */
export interface ApprovalRequest extends RequestNeeds {
  readonly id: string;
  readonly status: ApprovalStatus;
  readonly kind: ApprovalKind;
  /** The first run that stands still for it; null when a budget is asked for alone, as by a client of the gateway. */
  readonly run: string | null;
  readonly checkpoint_id: string | null;
  /** What it is about: a dimension of a budget, or one action. */
  readonly about: string;
  /** The budget that would be extended; null when none is. */
  readonly budget: string | null;
  readonly exhausted_dimension: string | null;
  /** Everything that waits for the answer, in the order in which it came. */
  readonly waiting: readonly WaitingCalls[];
  /** In edge units. While the request is open, this is how the budget stands; afterwards, how it stood when it was answered. */
  readonly consumed: JsonObject;
  /** What is reserved in that budget at the same moment: neither used nor free. */
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

/** What is said of the needs of a request that is not about a dimension. */
export const NO_NEEDS: RequestNeeds = { needs: {}, needs_together: {}, left: {}, least_extension: {}, message: "" };

/** A request as the store keeps it. */
export function readApproval({ id, status, body, version }: Document): ApprovalRequest {
  const kept = body as unknown as ApprovalRequest;
  // Requests that were stored before say nothing of holds, and nothing of who else waits.
  const { held = {}, waiting = soleWaiting(kept) } = kept;
  return { ...NO_NEEDS, ...kept, held, waiting, id, status: status as ApprovalStatus, version };
}

/** The run that alone waits for an answer, which says nothing of amounts. */
export function soleWaiting({
  run,
  checkpoint_id,
  digest,
}: Pick<ApprovalRequest, "run" | "checkpoint_id" | "digest">): readonly WaitingCalls[] {
  const amounts = { smallest: 0, largest: 0, together: 0 };
  return run === null ? [] : [{ run, checkpoint_id, name: "", digest, calls: 1, ...amounts }];
}

export function putApproval(request: ApprovalRequest): PutOperation {
  const { id, status, version, ...body } = request;
  const json = body as unknown as JsonObject;
  return { op: "put", kind: "approval", id, budget: request.budget, status, body: json, version };
}

/** Whether somebody can still answer it. */
export function isOpen({ status, expires }: Pick<ApprovalRequest, "status" | "expires">, instant: number): boolean {
  return status === "pending" && expires > instant;
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
