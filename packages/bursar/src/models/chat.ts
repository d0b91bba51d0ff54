import type { Json } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Model, ModelAnswer } from "../ports/model.js";
import { RunError } from "../runs/error.js";
import { readAnswer } from "./chat-answer.js";
import { type ChatRequest, chatRequest, checkMost } from "./chat-request.js";
import { howToPrice, type ModelPrices, priced, type Rate, readPrices } from "./price.js";
import { ProviderError } from "./provider-error.js";
import { bodyOf, shortened } from "./response.js";

export interface ChatModelOptions {
  /** The base address, as SDKs want it: `https://provider.example/v1`. */
  readonly url: string;
  /** The model that requests go to unless they name another. */
  readonly model: string;
  readonly apiKey?: string;
  /** What models cost. One that is not named here is not called. */
  readonly prices: ModelPrices;
  /** The most an answer may have unless a request says otherwise: 1,024. */
  readonly max_tokens?: number;
  /** How long an answer may take: 600,000. */
  readonly timeout_ms?: number;
  readonly fetch?: typeof fetch;
}

const KEYS = ["url", "model", "apiKey", "prices", "max_tokens", "timeout_ms", "fetch"];
const MAX_TOKENS = 1024;
const TIMEOUT_MS = 600_000;

/** Said by a provider, these may come after it has computed something; all others from 400 to 499 are refusals. */
const UNSURE: ReadonlySet<number> = new Set([408, 409, 499]);
/** Nothing was sent when the connection fails like this. */
const UNSENT: ReadonlySet<string> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/**
 * A model behind OpenAI's chat completions, which most providers and local servers speak. What a request may use is known
 * before it is sent: no text has more tokens than bytes, and how long an answer may be is said in every request. There are no
 * retries, because each would be paid for: that is the program's to decide.
 *
 * @example
 * ```ts
 * const model = chatModel({
 *   url: "http://localhost:11434/v1",
 *   model: "llama3.2",
 *   prices: { "llama3.2": { input_usd_per_mtok: 0, output_usd_per_mtok: 0 } },
 * });
 * const bursar = openBursar({ store, model, programs: [summarize] });
 * ```
 */
export function chatModel(options: ChatModelOptions): Model {
  return new ChatModel(options);
}

class ChatModel implements Model {
  readonly name: string;
  private readonly endpoint: URL;
  private readonly defaults: { readonly model: string; readonly max_tokens: number };
  private readonly rates: ReadonlyMap<string, Rate>;
  private readonly apiKey: string | null;
  private readonly timeout_ms: number;
  private readonly send: typeof fetch;

  constructor(options: ChatModelOptions) {
    checkKeys(options, "options", KEYS);
    const { url, model, prices, max_tokens = MAX_TOKENS, timeout_ms = TIMEOUT_MS } = options;
    this.endpoint = readUrl(url);
    this.apiKey = readKey(options.apiKey);
    if (typeof model !== "string" || model === "") {
      throw new InputError("model", `is ${show(model)}; allowed: a model's name`);
    }
    this.name = model;
    this.rates = readPrices(prices);
    if (!this.rates.has(model)) throw new InputError("prices", `has none for ${show(model)}; ${howToPrice(model)}`);
    this.defaults = { model, max_tokens: checkMost(max_tokens, "max_tokens") };
    checkWait(timeout_ms, "timeout_ms");
    this.timeout_ms = timeout_ms;
    this.send = options.fetch ?? fetch;
  }

  quote(request: Json): BudgetAmounts {
    const { model, input_tokens, output_tokens } = chatRequest(request, this.defaults);
    return priced(this.rateOf(model), input_tokens, output_tokens);
  }

  async call(
    request: Json,
    { signal, key }: { readonly signal: AbortSignal; readonly key: string },
  ): Promise<ModelAnswer> {
    const chat = chatRequest(request, this.defaults);
    const rate = this.rateOf(chat.model);
    signal.throwIfAborted();
    const patience = AbortSignal.timeout(this.timeout_ms);
    try {
      const text = await this.post(chat, key, AbortSignal.any([signal, patience]));
      const { value, usage } = readAnswer(text, this.apiKey);
      return usage === null ? { value } : { value, usage: priced(rate, usage.input_tokens, usage.output_tokens) };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.explain(error, patience.aborted);
    }
  }

  private rateOf(model: string): Rate {
    const rate = this.rates.get(model);
    if (rate !== undefined) return rate;
    const message = `there is no price for the model ${show(model)}, so it is not called; ${howToPrice(model)}`;
    throw new RunError("unknown_price", message, { model });
  }

  private async post({ body }: ChatRequest, key: string, signal: AbortSignal): Promise<string> {
    const headers: Record<string, string> = {
      "content-type": "application/json",
      accept: "application/json",
      "idempotency-key": encodeURIComponent(key),
    };
    if (this.apiKey !== null) headers.authorization = `Bearer ${this.apiKey}`;
    // Whoever is redirected would carry the key somewhere else.
    const response = await this.send(this.endpoint, { method: "POST", headers, body, redirect: "error", signal });
    const text = await bodyOf(response);
    if (response.ok) return text;
    throw this.refusal(response, text);
  }

  private refusal({ status, headers }: Response, text: string): ProviderError {
    const refused = status >= 400 && status < 500 && !UNSURE.has(status);
    const wait = Number(headers.get("retry-after") ?? Number.NaN);
    const data = { status, ...(Number.isFinite(wait) && wait >= 0 && { retry_after_s: wait }) };
    const said = shortened(text, this.apiKey);
    const message = `the provider answered ${status}${said === "" ? "" : `: ${said}`}`;
    return new ProviderError(refused ? "provider_refused" : "provider_failed", message, data);
  }

  /** What a program may be told: what happened, without the address's parameters and without a key. */
  private explain(error: unknown, late: boolean): Error {
    if (error instanceof ProviderError) return error;
    const { origin } = this.endpoint;
    if (late) return new ProviderError("provider_timeout", `${origin} gave no answer within ${this.timeout_ms} ms`);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    if (UNSENT.has(code)) return new ProviderError("provider_unreachable", `${origin} cannot be reached (${code})`);
    const why = shortened(code === "" ? String(cause instanceof Error ? cause.message : cause) : code, this.apiKey);
    return new ProviderError("provider_failed", `the connection to ${origin} failed: ${why}`);
  }
}

function readUrl(url: unknown): URL {
  const parsed = typeof url === "string" && URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || (parsed.protocol !== "https:" && parsed.protocol !== "http:")) {
    throw new InputError("url", "is none; allowed: a base address such as https://provider.example/v1");
  }
  // It may hold a secret, so it is not shown.
  if (parsed.username !== "" || parsed.password !== "") {
    throw new InputError("url", "holds a login; give the key as apiKey, and the address without it");
  }
  parsed.pathname = `${parsed.pathname.replace(/\/+$/, "").replace(/\/chat\/completions$/, "")}/chat/completions`;
  return parsed;
}

/** A key that cannot stand in a header would be shown in the error of whoever tries. */
function readKey(key: unknown): string | null {
  if (key === undefined) return null;
  if (typeof key === "string" && /^[\x21-\x7e]+$/.test(key)) return key;
  throw new InputError("apiKey", "is none; allowed: a text of ASCII characters without spaces");
}
