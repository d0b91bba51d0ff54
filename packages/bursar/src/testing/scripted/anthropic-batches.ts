import type { JsonObject } from "../../core/chain/canonical.js";
import { type BatchResult, countOf, DAY_MS, mixed, type ScriptedBatch } from "./batch.js";

/** A batch as Anthropic shows it. Nothing in it tells what its requests were called. */
export function anthropicBatch(batch: ScriptedBatch, origin: string): JsonObject {
  const { id, state, created, ended, lines, results } = batch;
  const processing_status = ended !== null ? "ended" : state === "cancelling" ? "canceling" : "in_progress";
  return {
    id,
    type: "message_batch",
    processing_status,
    request_counts: {
      processing: ended === null ? lines.length - results.size : 0,
      succeeded: countOf(batch, "answer"),
      errored: countOf(batch, "error"),
      canceled: countOf(batch, "cancelled"),
      expired: countOf(batch, "expired"),
    },
    created_at: date(created),
    expires_at: date(created + DAY_MS),
    archived_at: null,
    cancel_initiated_at: state === "cancelling" || state === "cancelled" ? date(created) : null,
    ended_at: ended === null ? null : date(ended),
    results_url: ended === null ? null : `${origin}/v1/messages/batches/${id}/results`,
  };
}

/** What became of the requests of a batch. */
export function anthropicLines(batch: ScriptedBatch): readonly JsonObject[] {
  return mixed([...batch.results]).flatMap(([custom_id, result]) => {
    const told = resultOf(result);
    return told === null ? [] : [{ custom_id, result: told }];
  });
}

function resultOf(result: BatchResult): JsonObject | null {
  switch (result.kind) {
    case "answer":
      return { type: "succeeded", message: result.body };
    case "error":
      return { type: "errored", error: result.body };
    case "cancelled":
      return { type: "canceled" };
    case "expired":
      return { type: "expired" };
    case "missing":
      return null;
  }
}

function date(instant: number): string {
  return new Date(instant).toISOString();
}
