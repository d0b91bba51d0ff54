import type { Json } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys, checkWait, checkWhole } from "../../core/fields.js";
import type { BudgetAmounts } from "../../core/input.js";
import type { AnswerNote, Calling, CallSite, Model, ModelAnswer, Pricing, SitedCall } from "../../ports/model.js";
import type { TiersOptions } from "../../ports/tiers.js";
import { readAllowedNames } from "../meter/allowed-members.js";
import { chargeAnswer, chargeUnreported } from "../meter/answer-charge.js";
import { isFree, isUnsent } from "../meter/answer-status.js";
import type { MeteredRequest } from "../meter/meter.js";
import { atEdge, mostOfCall, type Terms, usdOf } from "../meter/quote.js";
import { type PricedRequest, priceRequest } from "../meter/terms.js";
import { openPrices, statedPrices } from "../prices/open-prices.js";
import type { PriceBook } from "../prices/price.js";
import { OPTION_REMEDIES, type PriceRemedies } from "../prices/price-remedies.js";
import type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
import type { Site } from "../reservations/site.js";
import { siteKey } from "../reservations/site-key.js";
import { Sites } from "../reservations/sites.js";
import { type Siting, sitingIn } from "../reservations/siting.js";
import type { ReuseOptions } from "../reuse/options.js";
import { type Reuse, reuseOf } from "../reuse/reuse.js";
import { Chooser } from "../tiers/chooser.js";
import { readTiers, type TierList } from "../tiers/tier-list.js";
import { checkTierPrices } from "../tiers/tier-prices.js";
import { TieredModel } from "../tiers/tiered-model.js";
import { type AnswerClaims, claimsInHeaders, joinedClaims, withoutSecret } from "../wire/answer-claims.js";
import { reportIn } from "../wire/answer-report.js";
import { Deployments, type ModelDeployments } from "../wire/deployments.js";
import { KeyScrubber } from "../wire/key-scrubber.js";
import { OPENAI_CHAT } from "../wire/openai-chat.js";
import { writeSent } from "../wire/source.js";
import { readAnswer } from "./chat-answer.js";
import { MOST_OUTPUT_TOKENS, madeOf, readChat } from "./chat-body.js";
import { type CountedAnswer, SitedChat } from "./chat-site.js";
import { bearer, pathTo, readKey, readUrl } from "./endpoint.js";
import { ProviderError } from "./provider-error.js";
import { bodyOf, shortened } from "./response.js";
import { reusedChat, type TextAnswer } from "./reused-chat.js";

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
  /** Which model each deployment runs, where the address is one at which models have names of their own, as at Azure. */
  readonly deployments?: ModelDeployments;
  /** How prices and deployments are stated here, for errors that say what is missing; as options unless it is said. */
  readonly remedies?: PriceRemedies;
  /** The most an answer may have unless a request says otherwise: 1,024. */
  readonly max_tokens?: number;
  /** How long an answer may take: 600,000. */
  readonly timeout_ms?: number;
  /** Members of a request that may be sent though they may choose another model or bring input from elsewhere; else they are refused. */
  readonly allow?: readonly string[];
  readonly fetch?: typeof fetch;
}

const KEYS = [
  "url",
  "model",
  "tiers",
  "apiKey",
  "reuse",
  "prices",
  "assume",
  "deployments",
  "remedies",
  "max_tokens",
  "timeout_ms",
  "allow",
  "fetch",
];
const PRICED: Pricing = { unpriced: false };
const UNPRICED: Pricing = { unpriced: true };
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

/** A request that was read, with what it says about where it comes from. */
interface ReadChat {
  readonly request: MeteredRequest;
  readonly siting: Siting;
}

class ChatModel implements Model {
  readonly name: string;
  private readonly endpoint: URL;
  private readonly max_tokens: number;
  /** Null until the table of prices is loaded, which is when it is first needed. */
  private book: PriceBook | null;
  private readonly assume: ModelPrice | undefined;
  private readonly deployments: Deployments;
  private readonly remedies: PriceRemedies;
  private readonly apiKey: string | null;
  private readonly scrubber: KeyScrubber;
  private readonly timeout_ms: number;
  private readonly allow: ReadonlySet<string>;
  private readonly send: typeof fetch;
  /** Null where every call is a request of its own. */
  private readonly reuse: Reuse | null;
  /** Empty as long as nobody wants to know what calls like others use. */
  private readonly sites = new Sites();

  constructor(options: Omit<ChatModelOptions, "tiers">) {
    const { url, model, prices, assume, max_tokens = MAX_TOKENS, timeout_ms = TIMEOUT_MS } = options;
    this.endpoint = readUrl(url, "url", (base) => pathTo(base, "/chat/completions"));
    this.apiKey = readKey(options.apiKey, "apiKey");
    this.scrubber = new KeyScrubber(this.apiKey);
    if (typeof model !== "string" || model === "") {
      throw new InputError("model", `is ${show(model)}; allowed: a model's name`);
    }
    this.name = model;
    this.assume = assume;
    this.deployments = new Deployments(options.deployments);
    this.remedies = options.remedies ?? OPTION_REMEDIES;
    this.book = bookOf(prices, assume);
    const run = this.deployments.modelFor(this.endpoint, model)?.model ?? model;
    if (this.book?.find(run, { url: this.endpoint.href, protocol: OPENAI_CHAT.name }) === null) {
      throw new InputError("prices", `has none for ${show(run)}; ${this.remedies.price(run)}`);
    }
    checkWhole(max_tokens, "max_tokens", 1, MOST_OUTPUT_TOKENS);
    this.max_tokens = max_tokens;
    checkWait(timeout_ms, "timeout_ms");
    this.timeout_ms = timeout_ms;
    this.allow = readAllowedNames(options.allow, "allow");
    this.send = options.fetch ?? fetch;
    this.reuse = reuseOf(options.reuse);
  }

  /** Throws for a tier that nobody knows the price of. What the table knows is not looked up before it is loaded. */
  checkTiers(lists: Iterable<TierList>): void {
    if (this.book !== null) checkTierPrices(lists, this.book);
  }

  quote(request: Json, pricing: Pricing = PRICED): BudgetAmounts | Promise<BudgetAmounts> {
    const read = this.read(request);
    const { book } = this;
    if (book === null) return this.open().then((opened) => this.most(opened, read, pricing));
    return this.most(book, read, pricing);
  }

  async call(request: Json, calling: Calling): Promise<ModelAnswer> {
    // Its quote was let in before: whether it had to have a price is decided there.
    const { terms } = this.priced(await this.open(), this.read(request), UNPRICED);
    return (await this.answer(terms, terms.wanted, calling)).answer;
  }

  async sited(request: Json, { store, within }: CallSite): Promise<SitedCall | null> {
    const read = this.read(request);
    const { wire } = read.request;
    // Of several answers nobody can tell how long each of them was.
    if (wire.answers !== 1) return null;
    const site = this.sites.find(siteKey(read.siting.site ?? null, within, wire), wire.model, store);
    const { terms } = this.priced(await this.open(), read, UNPRICED, site);
    return new SitedChat(terms, site, store, (most, calling) => this.answer(terms, most, calling));
  }

  private read(request: Json): ReadChat {
    const { siting, request: bare } = sitingIn(request);
    const { name: model, endpoint: url, deployments, allow } = this;
    return { request: readChat(bare, { model, url, deployments, allow }), siting };
  }

  private priced(
    book: PriceBook,
    { request, siting }: ReadChat,
    { unpriced }: Pricing,
    site: Site | null = null,
  ): PricedRequest {
    const { wire } = request;
    const wanted = wire.output_tokens ?? this.max_tokens;
    const { remedies } = this;
    const basis = { wanted, site, full: site === null || siting.full === true, remedies, unpriced };
    return madeOf(priceRequest(book, request, basis), wire.model);
  }

  /** The most a request may use; a step is counted by whoever makes the call. */
  private most(book: PriceBook, read: ReadChat, pricing: Pricing): BudgetAmounts {
    const { steps: _, ...asked } = this.priced(book, read, pricing).quote.asked;
    const { llm_input_tokens: input = 0, llm_output_tokens: output = 0 } = asked;
    return { ...atEdge(asked), llm_tokens: input + output };
  }

  /** What a request is answered, with each of its answers held to so many tokens. */
  private answer(terms: Terms, most: number, calling: Calling): Promise<CountedAnswer> {
    const { tenant, signal } = calling;
    if (this.reuse === null || tenant === undefined) return this.ask(terms, most, calling);
    const { href: url } = this.endpoint;
    const question = { url, headers: bearer(this.apiKey), body: textOf(terms, terms.wanted), tenant };
    const isHeld = most < terms.wanted;
    return reusedChat(this.reuse, { question, secret: this.apiKey, isHeld }, signal, () =>
      this.ask(terms, most, calling),
    );
  }

  private async ask(terms: Terms, most: number, { signal, key }: Calling): Promise<TextAnswer> {
    signal.throwIfAborted();
    const patience = AbortSignal.timeout(this.timeout_ms);
    const body = textOf(terms, most);
    const sent = Buffer.byteLength(body);
    try {
      const { text, claimed } = await this.post(body, key, AbortSignal.any([signal, patience]), sent);
      const value = readAnswer(text, this.apiKey);
      const { counts, claims: said } = reportIn(OPENAI_CHAT, text);
      const claims = joinedClaims(claimed, withoutSecret(said, this.apiKey));
      if (counts === null) return { answer: { value, ...unreportedUse(terms, most, claims) }, counts, text };
      const { used, notes } = chargeAnswer(terms, counts, claims);
      const usage = { ...atEdge(used), network_egress_bytes: sent };
      return { answer: { value, usage, ...noted(notes) }, counts, text };
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

  private async post(body: string, key: string, signal: AbortSignal, sent: number): Promise<ReadAnswer> {
    const headers = {
      "content-type": "application/json",
      accept: "application/json",
      "idempotency-key": encodeURIComponent(key),
      ...bearer(this.apiKey),
    };
    // Whoever is redirected would carry the key somewhere else.
    const response = await this.send(this.endpoint, { method: "POST", headers, body, redirect: "error", signal });
    const text = await bodyOf(response);
    if (response.ok)
      return { text: this.scrubber.answer(text), claimed: claimsInHeaders((name) => response.headers.get(name)) };
    throw this.refusal(response, text, sent);
  }

  private refusal({ status, headers }: Response, text: string, sent: number): ProviderError {
    const wait = Number(headers.get("retry-after") ?? Number.NaN);
    const data = { status, ...(Number.isFinite(wait) && wait >= 0 && { retry_after_s: wait }) };
    const said = shortened(text, this.apiKey);
    const message = `the provider answered ${status}${said === "" ? "" : `: ${said}`}`;
    return new ProviderError(isFree(status) ? "provider_refused" : "provider_failed", message, data, undefined, sent);
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

/** The text of an answer, and what its headers say of its price. */
interface ReadAnswer {
  readonly text: string;
  readonly claimed: AnswerClaims;
}

/** What an answer is charged that says nothing of its usage: as it was reserved, or what it claims to have cost if that is more. */
function unreportedUse(terms: Terms, most: number, claims: AnswerClaims): Pick<ModelAnswer, "usage" | "notes"> {
  const granted = { cost_usd: mostOfCall(terms, most, terms.price) };
  const { cost_usd, notes } = chargeUnreported(terms, granted, claims, (price) => mostOfCall(terms, most, price));
  return { ...(cost_usd !== null && { usage: { cost_usd: usdOf(cost_usd) } }), ...noted(notes) };
}

function noted(notes: readonly AnswerNote[]): Pick<ModelAnswer, "notes"> {
  return notes.length === 0 ? {} : { notes };
}

/** The body as it is sent, with each answer held to so many tokens. */
function textOf({ wire }: Terms, most: number): string {
  return writeSent(wire.held(most), wire.source).text;
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
