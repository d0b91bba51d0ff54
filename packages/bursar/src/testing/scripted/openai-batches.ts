import type { JsonObject } from "../../core/chain/canonical.js";
import { type BatchResult, countOf, DAY_MS, mixed, type ScriptedBatch } from "./batch.js";

const STATUS: Readonly<Record<ScriptedBatch["state"], string>> = {
  under_way: "in_progress",
  cancelling: "cancelling",
  completed: "completed",
  expired: "expired",
  cancelled: "cancelled",
  failed: "failed",
};

const WORDS: Readonly<Record<string, string>> = {
  expired: "This request could not be executed before the completion window expired.",
  cancelled: "This request was not executed because the batch was cancelled.",
};

/** A batch as OpenAI shows it. */
export function openaiBatch(batch: ScriptedBatch): JsonObject {
  const { id, state, created, ended, input_file_id, endpoint, metadata, complaint, lines } = batch;
  const validating = batch.looks === 0 && state === "under_way";
  const completed = countOf(batch, "answer");
  const failed = countOf(batch, "error");
  const unread = countOf(batch, "expired") + countOf(batch, "cancelled");
  const errors = complaint === null ? null : { object: "list", data: [{ code: "invalid_file", message: complaint }] };
  return {
    id,
    object: "batch",
    endpoint,
    input_file_id,
    completion_window: "24h",
    metadata,
    status: validating ? "validating" : STATUS[state],
    created_at: seconds(created),
    expires_at: seconds(created + DAY_MS),
    errors,
    ...(ended !== null && { [`${STATUS[state]}_at`]: seconds(ended) }),
    output_file_id: ended === null || completed === 0 ? null : outputOf(id),
    error_file_id: ended === null || failed + unread === 0 ? null : errorsOf(id),
    request_counts: { total: lines.length, completed, failed },
  };
}

/** The files that hold what became of the requests of a batch. */
export function outputOf(id: string): string {
  return `file-${id}-output`;
}

export function errorsOf(id: string): string {
  return `file-${id}-errors`;
}

/** The lines of one of those files. */
export function openaiLines(batch: ScriptedBatch, file: "output" | "errors"): readonly JsonObject[] {
  return mixed([...batch.results]).flatMap(([custom_id, result]) => {
    const line = lineOf(custom_id, result);
    return line !== null && (result.kind === "answer") === (file === "output") ? [line] : [];
  });
}

function lineOf(custom_id: string, result: BatchResult): JsonObject | null {
  const id = `batch_req_${custom_id}`;
  switch (result.kind) {
    case "answer":
    case "error": {
      const status_code = result.kind === "answer" ? 200 : result.status;
      const response = { status_code, request_id: `req_${custom_id}`, body: result.body };
      return { id, custom_id, response, error: null };
    }
    case "missing":
      return null;
    default: {
      const error = { code: `batch_${result.kind}`, message: WORDS[result.kind] ?? "" };
      return { id, custom_id, response: null, error };
    }
  }
}

/** A file as OpenAI shows it. */
export function openaiFile(id: string, bytes: number, created: number, filename: string): JsonObject {
  const about = { filename, purpose: "batch", status: "processed", expires_at: null };
  return { id, object: "file", bytes, created_at: seconds(created), ...about };
}

function seconds(instant: number): number {
  return Math.floor(instant / 1000);
}
