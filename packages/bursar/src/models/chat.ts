import type { Json } from "../core/chain/canonical.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys, checkWait } from "../core/fields.js";
import type { BudgetAmounts } from "../core/input.js";
import type { Calling, CallSite, Model, ModelAnswer, SitedCall } from "../ports/model.js";
import type { TiersOptions } from "../ports/tiers.js";
import { RunError } from "../runs/error.js";
import { readAnswer } from "./chat-answer.js";
import { type ChatRequest, chatRequest, checkMost } from "./chat-request.js";
import { type CountedAnswer, type SitedChatOptions, sitedChat } from "./chat-site.js";
import { bearer, pathTo, readKey, readUrl } from "./endpoint.js";
import { isFree, isUnsent } from "./meter/answer-status.js";
import { amountsOf, mostOf } from "./meter/quote.js";
import { openPrices, statedPrices } from "./prices/open-prices.js";
import { guessFor, type Price, type PriceBook } from "./prices/price.js";
import { howToPrice, type ModelPrice, type ModelPrices } from "./prices/stated-price.js";
import { ProviderError } from "./provider-error.js";
import { Sites } from "./reservations/sites.js";
import { type Siting, sitingIn } from "./reservations/siting.js";
import { bodyOf, shortened } from "./response.js";
import type { ReuseOptions } from "./reuse/options.js";
import { type Reuse, reuseOf } from "./reuse/reuse.js";
import { reusedChat, type TextAnswer } from "./reused-chat.js";
import { Chooser } from "./tiers/chooser.js";
import { readTiers, type TierList } from "./tiers/tier-list.js";
import { checkTierPrices } from "./tiers/tier-prices.js";
import { TieredModel } from "./tiers/tiered-model.js";

export interface ChatModelOptions {
  /** The base address, as SDKs want it: `https://provider.example/v1`. */
  readonly url: string;
  /** The model that requests go to unless they name another; with tiers it may be left open, as `bursar/auto`. */
  readonly model: string;
  /** Lists of models to choose from: a request for `bursar/<name>` goes to the best of a list that fits what is left of the run. */
  readonly tiers?: TiersOptions;
  readonly apiKey?: string;
  /**
   * Whether runs are answered with what an identical call of theirs was, or is being, answered: never, unless it is said. A run gets
   * what it, or others in the same session, have paid for; with `shared`, what anybody has.
   */
  readonly reuse?: Reuse | ReuseOptions;
  /**
   * What models cost: one that is not named here is not called. A price book from `openPrices` knows more of them; so does the
   * table of prices, which counts when nothing is said here.
   */
  readonly prices?: ModelPrices | PriceBook;
  /** What models cost that have no price. Without it they are not called; it should be too high rather than too low. */
  readonly assume?: ModelPrice;
  /** The most an answer may have unless a request says otherwise: 1,024. */
  readonly max_tokens?: number;
  /** How long an answer may take: 600,000. */
  readonly timeout_ms?: number;
  readonly fetch?: typeof fetch;
}

const KEYS = ["url", "model", "tiers", "apiKey", "reuse", "prices", "assume", "max_tokens", "timeout_ms", "fetch"];
const MAX_TOKENS = 1024;
const TIMEOUT_MS = 600_000;

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
  checkKeys(options, "options", KEYS);
  const { tiers, ...rest } = options;
  if (tiers === undefined) return new ChatModel(rest);
  const chooser = new Chooser(readTiers(tiers));
  const [first] = chooser.listFor(options.model)?.tiers ?? [];
  const model = new ChatModel({ ...rest, model: first?.model ?? options.model });
  model.checkTiers(chooser.lists);
  return new TieredModel(model, chooser, options.model);
}

/** A body as it is sent, and what its model costs. */
interface SentBody {
  readonly body: string;
  readonly price: Price;
}

class ChatModel implements Model {
  readonly name: string;
  private readonly endpoint: URL;
  private readonly defaults: { readonly model: string; readonly max_tokens: number };
  /** Null until the table of prices is loaded, which is when it is first needed. */
  private book: PriceBook | null;
  private readonly assume: ModelPrice | undefined;
  private readonly apiKey: string | null;
  private readonly timeout_ms: number;
  private readonly send: typeof fetch;
  /** Null where every call is a request of its own. */
  private readonly reuse: Reuse | null;
  /** Empty as long as nobody wants to know what calls like others use. */
  private readonly sites = new Sites();

  constructor(options: Omit<ChatModelOptions, "tiers">) {
    const { url, model, prices, assume, max_tokens = MAX_TOKENS, timeout_ms = TIMEOUT_MS } = options;
    this.endpoint = readUrl(url, "url", (base) => pathTo(base, "/chat/completions"));
    this.apiKey = readKey(options.apiKey, "apiKey");
    if (typeof model !== "string" || model === "") {
      throw new InputError("model", `is ${show(model)}; allowed: a model's name`);
    }
    this.name = model;
    this.assume = assume;
    this.book = bookOf(prices, assume);
    if (this.book !== null && this.find(this.book, model) === null) {
      throw new InputError("prices", `has none for ${show(model)}; ${howToPrice(model)}`);
    }
    this.defaults = { model, max_tokens: checkMost(max_tokens, "max_tokens") };
    checkWait(timeout_ms, "timeout_ms");
    this.timeout_ms = timeout_ms;
    this.send = options.fetch ?? fetch;
    this.reuse = reuseOf(options.reuse);
  }

  /** Throws for a tier that nobody knows the price of. What the table knows is not looked up before it is loaded. */
  checkTiers(lists: Iterable<TierList>): void {
    if (this.book !== null) checkTierPrices(lists, this.book);
  }

  quote(request: Json): BudgetAmounts | Promise<BudgetAmounts> {
    const { chat } = this.read(request);
    const { book } = this;
    return book === null ? this.open().then((opened) => this.most(opened, chat)) : this.most(book, chat);
  }

  async call(request: Json, calling: Calling): Promise<ModelAnswer> {
    const { chat } = this.read(request);
    const price = this.priceOf(await this.open(), chat.model);
    return (await this.answer(chat, { body: chat.body, price }, calling)).answer;
  }

  async sited(request: Json, about: CallSite): Promise<SitedCall | null> {
    const { chat, siting } = this.read(request);
    const price = this.priceOf(await this.open(), chat.model);
    const send: SitedChatOptions["send"] = (body, calling) => this.answer(chat, { body, price }, calling);
    return sitedChat(this.sites, { chat, siting, price, send }, about);
  }

  private read(request: Json): { readonly chat: ChatRequest; readonly siting: Siting } {
    const { siting, request: bare } = sitingIn(request);
    return { chat: chatRequest(bare, this.defaults), siting };
  }

  /** What a request is answered; `body` is what is sent of it, which may be held to less than it asks for. */
  private answer(chat: ChatRequest, sent: SentBody, calling: Calling): Promise<CountedAnswer> {
    const { tenant, signal } = calling;
    if (this.reuse === null || tenant === undefined) return this.ask(sent, calling);
    const { href: url } = this.endpoint;
    const question = { url, headers: bearer(this.apiKey), body: chat.body, tenant };
    const isHeld = sent.body !== chat.body;
    return reusedChat(this.reuse, { question, secret: this.apiKey, isHeld }, signal, () => this.ask(sent, calling));
  }

  private async ask({ body, price }: SentBody, { signal, key }: Calling): Promise<TextAnswer> {
    signal.throwIfAborted();
    const patience = AbortSignal.timeout(this.timeout_ms);
    try {
      const text = await this.post(body, key, AbortSignal.any([signal, patience]));
      const { value, usage: counts } = readAnswer(text, this.apiKey);
      return { answer: counts === null ? { value } : { value, usage: amountsOf(counts, price) }, counts, text };
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw this.explain(error, patience.aborted);
    }
  }

  private async open(): Promise<PriceBook> {
    const { assume } = this;
    this.book ??= await openPrices(assume === undefined ? {} : { assume });
    return this.book;
  }

  private most(
    book: PriceBook,
    { model, input_tokens: input, output_tokens: output, caches }: ChatRequest,
  ): BudgetAmounts {
    return mostOf({ input, output, caches, audio: false }, this.priceOf(book, model));
  }

  private find(book: PriceBook, model: string): Price | null {
    return book.find(model, { url: this.endpoint.href, protocol: "openai-chat" });
  }

  private priceOf(book: PriceBook, model: string): Price {
    const price = this.find(book, model);
    if (price !== null) return price;
    const named = `${show(model)}${guessFor(book, model, "openai-chat")}`;
    const message = `there is no price for the model ${named}, so it is not called; ${howToPrice(model)}`;
    throw new RunError("unknown_price", message, { model });
  }

  private async post(body: string, key: string, signal: AbortSignal): Promise<string> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json",
      "idempotency-key": encodeURIComponent(key),
      ...bearer(this.apiKey),
    };
    // Whoever is redirected would carry the key somewhere else.
    const response = await this.send(this.endpoint, { method: "POST", headers, body, redirect: "error", signal });
    const text = await bodyOf(response);
    if (response.ok) return text;
    throw this.refusal(response, text);
  }

  private refusal({ status, headers }: Response, text: string): ProviderError {
    const wait = Number(headers.get("retry-after") ?? Number.NaN);
    const data = { status, ...(Number.isFinite(wait) && wait >= 0 && { retry_after_s: wait }) };
    const said = shortened(text, this.apiKey);
    const message = `the provider answered ${status}${said === "" ? "" : `: ${said}`}`;
    return new ProviderError(isFree(status) ? "provider_refused" : "provider_failed", message, data);
  }

  /** What a program may be told: what happened, without the address's parameters and without a key. */
  private explain(error: unknown, late: boolean): Error {
    if (error instanceof ProviderError) return error;
    const { origin, href } = this.endpoint;
    if (late) return new ProviderError("provider_timeout", `${origin} gave no answer within ${this.timeout_ms} ms`);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    const code = cause instanceof Error && "code" in cause ? String(cause.code) : "";
    const why = shortened(code === "" ? String(cause instanceof Error ? cause.message : cause) : code, this.apiKey);
    if (isUnsent(error, href)) return new ProviderError("provider_unreachable", `${origin} cannot be reached (${why})`);
    return new ProviderError("provider_failed", `the connection to ${origin} failed: ${why}`);
  }
}

/** The book that is there at once; null stands for the table, which has to be loaded. */
function bookOf(prices: ChatModelOptions["prices"], assume: ModelPrice | undefined): PriceBook | null {
  const own = assume === undefined ? {} : { assume };
  if (prices === undefined) {
    // What is assumed is read here too, so that whoever mistypes it hears of it at once.
    statedPrices(own);
    return null;
  }
  if (!isBook(prices)) return statedPrices({ prices, ...own });
  if (assume === undefined) return prices;
  throw new InputError("assume", "stands beside a price book; give it to openPrices, or state prices");
}

/** A model might be called `find`, but its price is no function. */
function isBook(prices: ModelPrices | PriceBook): prices is PriceBook {
  return typeof (prices as { find?: unknown } | null)?.find === "function" && !Array.isArray(prices);
}
