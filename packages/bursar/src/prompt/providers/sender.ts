import { BursarError } from "../../core/errors.js";
import { bodyOf, shortened } from "../../models/chat/response.js";
import { isFree, isUnsent } from "../../models/meter/answer-status.js";
import { BudgetExceededError } from "../../models/meter/budget-exceeded-error.js";
import { parsedObject } from "../../models/wire/json-object.js";
import { ProviderError, type UsageReport } from "../provider.js";
import { NO_TOKENS } from "../tokens.js";
import type { ModelSettings } from "./model-options.js";
import { Patience } from "./patience.js";
import type { Received, Receiver } from "./receiver.js";

/** Shorter values of headers are words, and would tear holes into what is said. */
const SHORTEST_SECRET = 12;

/** Sends requests, each of them once, and says of a failure whether it can have used anything. */
export class Sender {
  private readonly settings: ModelSettings;

  constructor(settings: ModelSettings) {
    this.settings = settings;
  }

  /** What the receiver makes of an answer that came with a status of success. */
  async send(body: string, receiver: Receiver, signal: AbortSignal): Promise<Received> {
    if (signal.aborted) throw new ProviderError("the request was not sent any more", { usage: NO_TOKENS });
    const { timeout_ms, timer } = this.settings;
    using patience = new Patience(timeout_ms, signal, timer);
    try {
      const response = await this.post(body, patience.signal);
      if (!response.ok) throw await this.refusal(response);
      return await receiver.receive(response);
    } catch (error) {
      const report = isUnsent(error, this.settings.url.href) ? { usage: NO_TOKENS } : receiver.seen;
      throw this.explained(error, report, signal.aborted ? "aborted" : patience.isOver ? "late" : "failed");
    }
  }

  /** What a provider said, short and without the key, which may stand in one of the headers too. */
  shown(text: string): string {
    const { apiKey, headers } = this.settings;
    let safe = text;
    for (const [, value] of headers) if (value.length >= SHORTEST_SECRET) safe = safe.replaceAll(value, "[header]");
    return shortened(safe, apiKey) || "nothing";
  }

  private post(body: string, signal: AbortSignal): Promise<Response> {
    const { dialect, apiKey, headers: more, url, send, stream } = this.settings;
    const headers = new Headers({
      ...dialect.headers(apiKey),
      accept: stream ? "text/event-stream, application/json" : "application/json",
    });
    for (const [name, value] of more) headers.set(name, value);
    headers.set("content-type", "application/json");
    // Whoever is redirected would carry the key somewhere else.
    return send(url, { method: "POST", headers, body, redirect: "error", signal });
  }

  private async refusal(response: Response): Promise<ProviderError> {
    const { status } = response;
    const text = await bodyOf(response).catch(() => "");
    // A budget around the evaluation may have refused it, and then says so in the provider's place.
    const refused = BudgetExceededError.from(parsedObject(text));
    return new ProviderError(`the provider answered ${status}: ${this.shown(text)}`, {
      usage: isFree(status) ? NO_TOKENS : null,
      ...(refused !== null && { cause: refused }),
    });
  }

  /** What went wrong, without the parameters of the address and without a key. */
  private explained(error: unknown, report: UsageReport, how: "aborted" | "late" | "failed"): ProviderError {
    if (error instanceof ProviderError) return error;
    const { url, timeout_ms } = this.settings;
    const cause = error instanceof BursarError ? { cause: error } : {};
    if (how === "late") return new ProviderError(`${url.origin} gave no answer within ${timeout_ms} ms`, report);
    if (how === "aborted") return new ProviderError("the request was aborted on its way", { ...report, ...cause });
    return new ProviderError(`no answer from ${url.origin}: ${this.shown(reasonOf(error))}`, { ...report, ...cause });
  }
}

/** `fetch` hides what happened behind its own error. */
function reasonOf(error: unknown): string {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(inner instanceof Error)) return String(inner);
  const { code } = inner as NodeJS.ErrnoException;
  return typeof code === "string" ? code : inner.message;
}
