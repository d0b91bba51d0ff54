import type { BudgetId } from "../core/budget.js";
import type { CallId } from "../core/call.js";
import type { JsonObject } from "../core/chain/canonical.js";
import { type Document, StaleError } from "../core/document.js";
import type { Operation, PutOperation } from "../core/operation.js";
import type { BatchTerms } from "../ports/batches.js";
import type { Store } from "../ports/store.js";
import type { Answered } from "./journal.js";

/**
 * Where a call that can wait stands. `asking` is not admitted yet, `waiting` is not sent, `sent` may cost something, `given_up` was
 * sent and nobody wants it any more, `answered` waits to be taken, and `over` is over.
 */
type BatchItemStatus = "asking" | "waiting" | "sent" | "given_up" | "answered" | "over";

/** A model call that can wait, as the store keeps it. */
export interface BatchItem {
  readonly id: string;
  readonly status: BatchItemStatus;
  readonly outlet: string;
  readonly provider: string;
  readonly model: string;
  /** The reservation that is held for it. */
  readonly call: CallId;
  readonly budget: BudgetId;
  /** The run that it is made for; null when somebody else waits for it. */
  readonly run: string | null;
  /** As it is sent; null when it is over. */
  readonly request: JsonObject | null;
  /** Null where the model has no price. */
  readonly quote_usd: number | null;
  readonly full_quote_usd: number | null;
  /** When it was handed over. */
  readonly at: number;
  /** The batch that it went out with. */
  readonly batch: string | null;
  readonly answered: Answered | null;
  readonly version: number;
}

/** A hold outlives its batch: a day until it is sent, a day and a half until it is answered, and half a day to spare. */
export const BATCH_HOLD_MS: number = 72 * 60 * 60_000;

/** The item for an effect of a run. */
export function itemOfRun(run: string, number: number): string {
  return `item:${run}/${number}`;
}

/** The item under a name that somebody has chosen; no run has a colon in its name. */
export function itemNamed(name: string): string {
  return `item:own:${name}`;
}

/** The reservation of an effect that is handed over. It has a name of its own, because it outlives the claim it was made under. */
export function batchCallId(run: string, number: number, epoch: number): CallId {
  return `${run}/${number}@${epoch} batch`;
}

export function readItem({ id, status, body, version }: Document): BatchItem {
  return { ...(body as unknown as BatchItem), id, status: status as BatchItemStatus, version };
}

export function putItem(item: BatchItem): PutOperation {
  const { id, status, version, ...body } = item;
  const json = body as unknown as JsonObject;
  return { op: "put", kind: "batch", id, budget: item.budget, status, body: json, version };
}

export async function findItem(store: Store, id: string): Promise<BatchItem | null> {
  const document = await store.document("batch", id);
  return document === null ? null : readItem(document);
}

/** A new item for what was quoted. */
export function newItem(
  terms: BatchTerms,
  about: Pick<BatchItem, "id" | "status" | "call" | "budget" | "run" | "at">,
): BatchItem {
  const { outlet, provider, model, body, asked, full_usd } = terms;
  const quotes = { quote_usd: asked.cost_usd ?? null, full_quote_usd: full_usd };
  return { ...about, outlet, provider, model, ...quotes, request: body, batch: null, answered: null, version: 0 };
}

/** Leaves word in the chain that a call was handed over. */
export function recordBatched({ id, budget, run, provider, model, quote_usd, full_quote_usd }: BatchItem): Operation {
  const about = { provider, model, quote_usd, full_quote_usd };
  const data = { ...(run !== null && { run_id: run }), item: id, ...about };
  return { op: "record", budget, action: { action_type: "Batched", data } };
}

/** The item when somebody has taken its answer, or nobody will: what it said is not kept any longer. */
export function itemOver(item: BatchItem): PutOperation {
  return putItem({ ...item, status: "over", request: null, answered: null });
}

const MOST_TURNS = 20;

/**
 * Gives an item up. What was not sent costs nothing. What was sent is charged as it was reserved, because its budget may end before
 * the provider answers; what the provider says then corrects it. Tells whether there was such an item.
 */
export async function giveUpItem(store: Store, id: string): Promise<boolean> {
  for (let turn = 1; ; turn++) {
    const item = await findItem(store, id);
    if (item === null) return false;
    try {
      await store.apply(givenUp(item));
      return true;
    } catch (error) {
      if (!(error instanceof StaleError) || error.kind !== "batch" || turn >= MOST_TURNS) throw error;
    }
  }
}

function givenUp(item: BatchItem): readonly Operation[] {
  switch (item.status) {
    case "asking":
      return [itemOver(item)];
    case "waiting":
      return [{ op: "release", call: item.call }, itemOver(item)];
    case "sent":
      return [{ op: "commit", call: item.call, used: {} }, putItem({ ...item, status: "given_up" })];
    case "answered":
      return [itemOver(item)];
    default:
      return [];
  }
}
