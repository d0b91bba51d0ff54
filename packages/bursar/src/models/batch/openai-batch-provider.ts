import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { readAnswer } from "../chat/chat-answer.js";
import type { ReadingChat } from "../chat/chat-body.js";
import { readChat } from "../chat/chat-body.js";
import { bearer } from "../chat/endpoint.js";
import { shortened } from "../chat/response.js";
import type { MeteredRequest } from "../meter/meter.js";
import { type AnswerClaims, claimsIn, withoutSecret } from "../wire/answer-claims.js";
import { isObject, listOf, objectOf } from "../wire/json-object.js";
import { OPENAI_CHAT } from "../wire/openai-chat.js";
import { isHomeOf } from "../wire/provider-hosts.js";
import type { TokenCounts } from "../wire/token-counts.js";
import type { BatchProvider, Found, ItemResult, Looked, Outgoing, Over, Submitted } from "./batch-provider.js";
import { BatchWire, type BatchWireOptions } from "./batch-wire.js";
import { foundAfter, isProviderId, listedSince, MOST_LISTED, submissionOf } from "./listed.js";
import { WireFailure } from "./wire-failure.js";

/** Under this name a batch carries its marker. */
const MARK = "bursar_batch";
const ENDPOINT = "/v1/chat/completions";
const LISTING = {
  path: "/batches",
  cursor: "after",
  instantOf: ({ created_at }: JsonObject) => Number(created_at) * 1000,
};
const OVER: readonly Json[] = ["completed", "expired", "cancelled", "failed"];
/** What OpenAI writes of items that were never begun. */
const UNPROCESSED: Readonly<Record<string, "expired" | "cancelled">> = {
  batch_expired: "expired",
  batch_cancelled: "cancelled",
  batch_canceled: "cancelled",
};

/** OpenAI's batches of chat completions, which other servers speak too. */
export class OpenaiBatchProvider implements BatchProvider {
  readonly name = "openai";
  readonly protocol = "openai-chat";
  readonly url: string;
  readonly isHome: boolean;
  private readonly wire: BatchWire;
  private readonly apiKey: string | null;

  constructor(options: Omit<BatchWireOptions, "headers">) {
    const { base, apiKey } = options;
    this.url = `${base}/chat/completions`;
    this.isHome = isHomeOf("openai", new URL(base).hostname);
    this.apiKey = apiKey;
    this.wire = new BatchWire({ ...options, headers: bearer(apiKey) });
  }

  request(asked: Json, about: Omit<ReadingChat, "url">): MeteredRequest {
    return readChat(asked, { ...about, url: new URL(this.url) });
  }

  answer(body: JsonObject): Json {
    return readAnswer(JSON.stringify(body), this.apiKey);
  }

  usage(body: JsonObject): TokenCounts | null {
    return OPENAI_CHAT.usage(body);
  }

  claims(body: JsonObject): AnswerClaims {
    return withoutSecret(claimsIn(body), this.apiKey);
  }

  /** To read from a cache is not cheaper in the batches of every model, so nobody is charged as if it were. */
  billed({ cache_read: _, cache_read_audio: __, ...rest }: TokenCounts): TokenCounts {
    return rest;
  }

  async submit({ marker, lines }: Outgoing, signal: AbortSignal): Promise<Submitted> {
    let file: string;
    try {
      file = await this.upload(marker, lines, signal);
    } catch (error) {
      if (!(error instanceof WireFailure)) throw error;
      const { message, status } = error;
      // A file alone costs nothing, so that it does not matter whether it has arrived.
      return error.kind === "refused" ? { kind: "refused", message, status } : { kind: "later", message };
    }
    try {
      const asked = { input_file_id: file, endpoint: ENDPOINT, completion_window: "24h", metadata: { [MARK]: marker } };
      const { id } = await this.wire.post("/batches", asked, signal, marker);
      return isProviderId(id) ? { kind: "taken", id } : { kind: "unknown", message: "the batch has no id" };
    } catch (error) {
      return submissionOf(error);
    }
  }

  async find({ marker, created }: Outgoing, _: ReadonlySet<string>, signal: AbortSignal): Promise<Found> {
    try {
      for await (const page of listedSince(this.wire, LISTING, created, signal)) {
        if (page === null) return { kind: "untold", message: `it is none of the last ${MOST_LISTED} batches` };
        const found = page.find(({ metadata }) => objectOf(metadata)[MARK] === marker);
        if (isProviderId(found?.id)) return { kind: "found", id: found.id };
        if (found !== undefined) return { kind: "later", message: "the batch is there, and has no name" };
      }
      return { kind: "none" };
    } catch (error) {
      return foundAfter(error);
    }
  }

  async look(id: string, signal: AbortSignal): Promise<Looked> {
    try {
      return lookedAt(await this.wire.get(`/batches/${encodeURIComponent(id)}`, signal), this.apiKey);
    } catch (error) {
      if (error instanceof WireFailure) return { kind: "later", message: error.message };
      throw error;
    }
  }

  async *results(_: string, { files }: Over, signal: AbortSignal): AsyncGenerator<ItemResult> {
    for (const file of files) {
      for await (const line of this.wire.lines(`/files/${encodeURIComponent(file)}/content`, signal)) {
        const result = resultIn(line, this.apiKey);
        if (result !== null) yield result;
      }
    }
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await this.wire.post(`/batches/${encodeURIComponent(id)}/cancel`, {}, signal);
  }

  private async upload(marker: string, lines: Outgoing["lines"], signal: AbortSignal): Promise<string> {
    const text = lines
      .map(({ custom_id, body }) => `${JSON.stringify({ custom_id, method: "POST", url: ENDPOINT, body })}\n`)
      .join("");
    const form = new FormData();
    form.set("purpose", "batch");
    form.set("file", new Blob([text], { type: "application/jsonl" }), `${marker}.jsonl`);
    const { id } = await this.wire.upload("/files", form, signal);
    if (isProviderId(id)) return id;
    throw new WireFailure("busy", "the file has no id");
  }
}

function lookedAt(batch: JsonObject, secret: string | null): Looked {
  const { status = null, output_file_id, error_file_id, request_counts, errors } = batch;
  if (!OVER.includes(status)) return { kind: "under_way" };
  const { completed, failed } = objectOf(request_counts);
  const [problem] = listOf(objectOf(errors).data);
  const { message = null } = objectOf(problem);
  return {
    kind: "over",
    state: status as Over["state"],
    files: [output_file_id, error_file_id].filter(isProviderId),
    processed: isCount(completed) && isCount(failed) ? completed + failed : null,
    message: typeof message === "string" ? shortened(message, secret) : null,
  };
}

/** Null for a line that says nothing of what became of a call. */
function resultIn({ custom_id, response, error }: JsonObject, secret: string | null): ItemResult | null {
  if (typeof custom_id !== "string") return null;
  const { code, message } = objectOf(error);
  const unprocessed = typeof code === "string" ? UNPROCESSED[code] : undefined;
  if (unprocessed !== undefined) return { custom_id, result: { kind: "unprocessed", why: unprocessed } };
  const { status_code, body } = objectOf(response);
  if (status_code === 200 && isObject(body)) return { custom_id, result: { kind: "answer", body } };
  const status = isCount(status_code) ? status_code : null;
  // What was answered and cannot be read was paid for; who says neither this nor that says nothing.
  if (status === null ? !isObject(error) : status < 400) return null;
  const said = objectOf(objectOf(body).error).message ?? message ?? "it does not say why";
  return { custom_id, result: { kind: "error", status, message: shortened(String(said), secret) } };
}
