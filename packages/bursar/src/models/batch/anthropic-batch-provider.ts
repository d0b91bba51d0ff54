import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import type { ReadingChat } from "../chat/chat-body.js";
import { ProviderError } from "../chat/provider-error.js";
import { shortened } from "../chat/response.js";
import type { MeteredRequest } from "../meter/meter.js";
import { type AnswerClaims, claimsIn, withoutSecret } from "../wire/answer-claims.js";
import { ANTHROPIC_MESSAGES } from "../wire/anthropic-messages.js";
import { isObject, listOf, objectOf } from "../wire/json-object.js";
import { isHomeOf } from "../wire/provider-hosts.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { anthropicRequest } from "./anthropic-request.js";
import type { BatchProvider, Found, ItemResult, Looked, Outgoing, Over, Submitted } from "./batch-provider.js";
import { BatchWire, type BatchWireOptions } from "./batch-wire.js";
import { foundAfter, isProviderId, listedSince, mayBeSince, submissionOf } from "./listed.js";
import { WireFailure } from "./wire-failure.js";

const PLACE = "/messages/batches";
const LISTING = {
  path: PLACE,
  cursor: "after_id",
  instantOf: ({ created_at }: JsonObject) => Date.parse(String(created_at)),
};
const FINISH: Readonly<Record<string, string>> = { end_turn: "stop", max_tokens: "length", tool_use: "tool_calls" };
const OVER: Over = { kind: "over", state: "completed", files: [], processed: null, message: null };

/** Anthropic's Message Batches. */
export class AnthropicBatchProvider implements BatchProvider {
  readonly name = "anthropic";
  readonly protocol = "anthropic-messages";
  readonly url: string;
  readonly isHome: boolean;
  private readonly wire: BatchWire;
  private readonly apiKey: string | null;

  constructor(options: Omit<BatchWireOptions, "headers">) {
    const { base, apiKey } = options;
    this.url = `${base}/messages`;
    this.isHome = isHomeOf("anthropic", new URL(base).hostname);
    this.apiKey = apiKey;
    const key = apiKey === null ? {} : { "x-api-key": apiKey };
    this.wire = new BatchWire({ ...options, headers: { "anthropic-version": "2023-06-01", ...key } });
  }

  request(asked: Json, about: Omit<ReadingChat, "url">): MeteredRequest {
    return anthropicRequest(asked, { ...about, url: new URL(this.url) });
  }

  answer({ content, stop_reason = null, model = null, role }: JsonObject): Json {
    if (!Array.isArray(content)) throw new ProviderError("provider_answer", "the provider answered with no message");
    const text = listOf(content)
      .map((block) => objectOf(block).text)
      .filter((each) => typeof each === "string")
      .join("");
    const finish_reason = typeof stop_reason === "string" ? (FINISH[stop_reason] ?? stop_reason) : null;
    return { text, finish_reason, model, message: { role: role ?? "assistant", content } };
  }

  usage(body: JsonObject): TokenCounts | null {
    return ANTHROPIC_MESSAGES.usage(body);
  }

  claims(body: JsonObject): AnswerClaims {
    return withoutSecret(claimsIn(body), this.apiKey);
  }

  /** Here everything costs the same part of what it costs otherwise, caches too. */
  billed(counts: TokenCounts): TokenCounts {
    return counts;
  }

  async submit({ marker, lines }: Outgoing, signal: AbortSignal): Promise<Submitted> {
    try {
      const requests = lines.map(({ custom_id, body }) => ({ custom_id, params: body }));
      const { id } = await this.wire.post(PLACE, { requests }, signal, marker);
      return isProviderId(id) ? { kind: "taken", id } : { kind: "unknown", message: "the batch has no id" };
    } catch (error) {
      return submissionOf(error);
    }
  }

  /**
   * A batch here carries no marker but the names of its requests, and those are only shown with its results. So whatever was handed
   * in since, and is nobody else's, may be the one: it is waited for until it can be told.
   */
  async find(batch: Outgoing, known: ReadonlySet<string>, signal: AbortSignal): Promise<Found> {
    try {
      const candidates = await this.since(batch, signal);
      if (candidates === null) return { kind: "untold", message: "too many batches were handed in since" };
      let under_way = false;
      for (const { id, processing_status } of candidates) {
        if (typeof id === "string" && known.has(id)) continue;
        if (!isProviderId(id)) return { kind: "later", message: "there is a batch without a name, which may be it" };
        if (processing_status !== "ended") under_way = true;
        else {
          const has = await this.has(id, batch, signal);
          if (has === null) return { kind: "untold", message: `batch ${id} may be it, and has no results` };
          if (has) return { kind: "found", id };
        }
      }
      return under_way ? { kind: "later", message: "a batch that may be it is not over yet" } : { kind: "none" };
    } catch (error) {
      return foundAfter(error);
    }
  }

  async look(id: string, signal: AbortSignal): Promise<Looked> {
    try {
      const { processing_status, request_counts } = await this.wire.get(`${PLACE}/${encodeURIComponent(id)}`, signal);
      if (processing_status !== "ended") return { kind: "under_way" };
      const { succeeded, errored } = objectOf(request_counts);
      return { ...OVER, processed: isCount(succeeded) && isCount(errored) ? succeeded + errored : null };
    } catch (error) {
      if (error instanceof WireFailure) return { kind: "later", message: error.message };
      throw error;
    }
  }

  async *results(id: string, _: Over, signal: AbortSignal): AsyncGenerator<ItemResult> {
    // Not from the address that the batch names, because the key goes along.
    for await (const line of this.wire.lines(`${PLACE}/${encodeURIComponent(id)}/results`, signal)) {
      const result = resultIn(line, this.apiKey);
      if (result !== null) yield result;
    }
  }

  async cancel(id: string, signal: AbortSignal): Promise<void> {
    await this.wire.post(`${PLACE}/${encodeURIComponent(id)}/cancel`, {}, signal);
  }

  /** The batches that were handed in since, newest first; null when there are too many. */
  private async since({ created, most }: Outgoing, signal: AbortSignal): Promise<readonly JsonObject[] | null> {
    const found: JsonObject[] = [];
    for await (const page of listedSince(this.wire, LISTING, created, signal)) {
      if (page === null) return null;
      const young = page.filter((batch) => mayBeSince(created, LISTING.instantOf(batch)));
      found.push(...young.filter(({ request_counts }) => totalOf(request_counts) <= most));
    }
    return found;
  }

  /** Whether it is this batch; null when nobody can tell. */
  private async has(id: string, { marker }: Outgoing, signal: AbortSignal): Promise<boolean | null> {
    // All of its requests are called alike, so that the first one tells.
    for await (const { custom_id } of this.results(id, OVER, signal)) return custom_id.startsWith(`${marker}-`);
    return null;
  }
}

function totalOf(counts: Json | undefined): number {
  return Object.values(objectOf(counts)).reduce<number>((sum, each) => sum + (typeof each === "number" ? each : 0), 0);
}

function resultIn({ custom_id, result }: JsonObject, secret: string | null): ItemResult | null {
  if (typeof custom_id !== "string") return null;
  const { type, message, error } = objectOf(result);
  switch (type) {
    case "succeeded":
      return isObject(message) ? { custom_id, result: { kind: "answer", body: message } } : null;
    case "expired":
      return { custom_id, result: { kind: "unprocessed", why: "expired" } };
    case "canceled":
      return { custom_id, result: { kind: "unprocessed", why: "cancelled" } };
    case "errored": {
      const said = objectOf(objectOf(error).error).message ?? "it does not say why";
      return { custom_id, result: { kind: "error", status: null, message: shortened(String(said), secret) } };
    }
    default:
      return null;
  }
}
