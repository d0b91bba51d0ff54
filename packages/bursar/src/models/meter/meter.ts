import type { Amounts } from "../../core/amount.js";
import type { Path } from "../../core/budget.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import type { Decision } from "../../core/decision.js";
import { InputError, show } from "../../core/errors.js";
import { checkWhole } from "../../core/fields.js";
import type { BudgetAmounts } from "../../core/input.js";
import type { Effected, Gated, GatedCall } from "../../runtime/gate.js";
import type { SettledCall } from "../../runtime/gated-call.js";
import { limitsMoney } from "../../runtime/money-limit.js";
import { newName } from "../../runtime/names.js";
import type { Purse } from "../../runtime/purse.js";
import { judged, type Unfit } from "../../runtime/unfit.js";
import { untilAborted } from "../../runtime/until-aborted.js";
import { openingPrices } from "../prices/open-prices.js";
import type { PriceBook } from "../prices/price.js";
import type { Site } from "../reservations/site.js";
import { siteKey } from "../reservations/site-key.js";
import { Sites } from "../reservations/sites.js";
import type { Siting } from "../reservations/siting.js";
import { type Choice, Chooser } from "../tiers/chooser.js";
import { readTiers, type TierList } from "../tiers/tier-list.js";
import { checkTierPrices } from "../tiers/tier-prices.js";
import { boundByTokenizer } from "../tokens/tokenizer-bound.js";
import type { AnswerClaims } from "../wire/answer-claims.js";
import { Deployments } from "../wire/deployments.js";
import { MOST_OPEN_USES } from "../wire/hosted-tools.js";
import type { Protocol, WireRequest } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { Allowance } from "./allowed-members.js";
import { extended } from "./approval.js";
import { BudgetExceededError } from "./budget-exceeded-error.js";
import { calls } from "./call-record.js";
import { fits } from "./fits.js";
import { HeldCall } from "./held-call.js";
import { longestOutput } from "./longest-output.js";
import type { MeterOptions } from "./meter-options.js";
import type { ChosenTier, OpenModel } from "./open-model.js";
import type { InputCount } from "./provider-count.js";
import { type Quote, quoteOf, type Terms } from "./quote.js";
import { type RefusalReport, reportDecision } from "./refusal.js";
import { takenOver } from "./taken-over.js";
import { type PricedRequest, priceRequest } from "./terms.js";
import { type TieredRequest, tieredRequest } from "./tiered-request.js";
import { ToldCall } from "./told-call.js";
import { closedBudget, invalidModel, noTiers } from "./unmade.js";

/** A request that wants to be made. */
export interface MeteredRequest extends Siting {
  readonly protocol: Protocol;
  readonly wire: WireRequest;
  /** Where it goes; the price may depend on it. */
  readonly url: string | null;
  /** How many bytes are sent; 0 where nobody can tell. */
  readonly egress_bytes: number;
  readonly signal?: AbortSignal;
  /** Whether making it ends by itself when its signal fires. */
  readonly heeds?: true;
  readonly wait_ms?: number;
  /** The path of the budget that pays, where the caller has just read it. */
  readonly path?: Path;
  /** Whether the outcome tells how the path stands after the settlement. */
  readonly pathAfter?: true;
  /** Told when it has to wait for what others hold. */
  readonly onWait?: () => void;
  /** Asked for a bound of the input where the strict one does not fit. */
  readonly count?: InputCount;
  /** Set when the request leaves open which model answers it. */
  readonly open?: OpenModel;
  /** Which one it was given then. */
  readonly chosen?: ChosenTier;
}

type OpenRequest = MeteredRequest & { readonly open: OpenModel };

/** Makes a request that was let in; as it is made, for whoever has left the model open. */
export type MeteredEffect<Value> = (held: Held, request: MeteredRequest) => Promise<Effected<Value>>;

/** A request that was let in: what may be sent, and how to tell what came of it. */
export interface Held {
  readonly id: string;
  /** The body, held to what was granted. */
  readonly body: JsonObject;
  /** The same as it is sent. Whoever sends this is charged for its bytes, and not for those of the request as it came. */
  readonly text: string;
  /** How many bytes that has in UTF-8. It is counted once, because it is long. */
  readonly text_bytes: number;
  /** The most output of all its answers together. */
  readonly output_tokens: number;
  /** What is held for it, in ledger units. */
  readonly granted: Amounts;
  readonly signal: AbortSignal;
  /** What an answer is charged when the provider has reported it. */
  usage(counts: TokenCounts): BudgetAmounts;
  /** Says where to ask what was seen so far, should the call break off, what the provider has said for good by then, and of its price. */
  follow(seen: () => Seen | null, counts: () => TokenCounts | null, claims: () => AnswerClaims): void;
  /** Says what a whole answer claims of its price. It goes before `usage`, and counts where there is none as well. */
  claim(claims: AnswerClaims): void;
  /** Says that somebody further down pays for it, so that nothing is charged here, however it ends. */
  handedDown(): void;
}

/** What is known of a call that broke off. */
export interface Seen {
  /** What the provider had reported until then; null when it had said nothing. */
  readonly reported: TokenCounts | null;
  /** The most output it can have given. */
  readonly output: number;
}

export type Metered<Value> =
  | ({ readonly kind: "done"; readonly value: Value } & SettledCall)
  | ({ readonly kind: "failed"; readonly error: unknown } & SettledCall)
  | Refused;

interface Refused {
  readonly kind: "refused";
  readonly report: RefusalReport;
  readonly decision: Decision | null;
}

/** A call that is about to be made. */
interface Admission<Value> {
  readonly purse: Purse;
  /** Whose budget pays once what was held further out is handed down. */
  readonly payer: Purse;
  readonly request: MeteredRequest;
  readonly effect: MeteredEffect<Value>;
  readonly choice: Choice | null;
  /** The same call as it was tried before; null where it was not. */
  readonly first: HeldCall | null;
  readonly looked: { readonly quoted: PricedRequest; readonly seen: Path | null };
}

type TurnedDown = Extract<Gated<unknown>, { kind: "refused" }>;

const OUTPUT_TOKENS = 4096;
/** Why a call may need so much, and what to do about it. */
const WITHOUT_HOSTED =
  "each use of its tools that the provider runs may read the model's whole window again, so it needs less without them (a gateway takes them out with --strip-tools)";
/** A person who extends a budget again and again by too little is not asked for ever. */
const MOST_QUESTIONS = 10;

/**
 * Makes model calls through the gate: it knows what a request may cost at most, holds it to what is left, and charges what it
 * really used.
 */
export class Meter {
  /** Which models deployments run, for whoever reads requests. */
  readonly deployments: Deployments;
  private readonly options: MeterOptions;
  /** Null where nothing is learned. */
  private readonly sites: Sites | null;
  private book: Promise<PriceBook> | PriceBook;
  private readonly chooser: Chooser | null;
  private readonly allowance: Allowance;
  private checked: Promise<void> | null = null;

  constructor(options: MeterOptions = {}) {
    this.options = options;
    const {
      output_tokens = OUTPUT_TOKENS,
      tokenizer: _,
      reservations = "learned",
      tiers,
      deployments,
      allow,
      ...prices
    } = options;
    if (reservations !== "learned" && reservations !== "full") {
      throw new InputError("reservations", `is ${show(reservations)}; allowed: "learned" or "full"`);
    }
    checkWhole(output_tokens, "output_tokens", 1, Number.MAX_SAFE_INTEGER);
    this.deployments = new Deployments(deployments);
    this.sites = reservations === "learned" ? new Sites() : null;
    this.allowance = new Allowance(allow);
    this.chooser = tiers === undefined ? null : new Chooser(readTiers(tiers));
    this.book = openingPrices(prices).then((book) => {
      this.book = book;
      return book;
    });
    // Whoever makes the first call is told that there is no table; until then nobody waits for it.
    this.book.catch(() => {});
  }

  call<Value>(purse: Purse, request: MeteredRequest, effect: MeteredEffect<Value>): Promise<Metered<Value>> {
    const { open } = request;
    if (open === undefined) return this.made(purse, request, effect, null);
    return this.tiered(purse, { ...request, open }, effect);
  }

  /** A call that leaves its model open. */
  private async tiered<Value>(
    purse: Purse,
    request: OpenRequest,
    effect: MeteredEffect<Value>,
  ): Promise<Metered<Value>> {
    // What is held for it further out goes first: it would be missing from what is left.
    const payer = await takenOver(purse, request);
    const tiered = await this.choose(payer, request);
    if ("code" in tiered) return this.refuse(payer, request, tiered);
    const { request: chosen, choice } = tiered;
    const begin = (held: Held) => {
      choice.entered();
      return effect(held, chosen);
    };
    const metered = await this.made(payer, chosen, begin, choice).finally(choice.entered);
    if (metered.kind !== "refused") choice.cost(metered.settled.charged.cost_usd ?? 0);
    return metered;
  }

  /** Throws when there is something among the tiers that can never be chosen. Calls are told so otherwise. */
  checkTiers(): Promise<void> {
    if (this.chooser === null) return Promise.resolve();
    this.checked ??= Promise.resolve(this.book).then((book) => checkTierPrices(this.lists, book));
    return this.checked;
  }

  /** The list that a model's name stands for; null for the name of a model, and where there are no lists. */
  listFor(model: string): TierList | null {
    return this.chooser?.listFor(model) ?? null;
  }

  /** What is sent to an address beside what is known. */
  allowedAt(url: string | null): ReadonlySet<string> {
    return this.allowance.at(url);
  }

  /** The lists that there are to choose from. */
  get lists(): readonly TierList[] {
    return this.chooser === null ? [] : [...this.chooser.lists];
  }

  private async choose(payer: Purse, request: OpenRequest): Promise<TieredRequest | RefusalReport> {
    if (this.chooser === null) return noTiers(request.open.model);
    try {
      await this.checkTiers();
      const { output_tokens } = this.options;
      return await tieredRequest(this.chooser, payer, request, { book: await this.book, output_tokens });
    } catch (error) {
      if (error instanceof InputError) return invalidModel(error.message);
      throw error;
    }
  }

  /**
   * Makes a call to the model that it names. Where that was chosen, what was held for it is handed down already. Where a person decides
   * on more, he is asked, and it is tried again with what was given.
   */
  private async made<Value>(
    purse: Purse,
    request: MeteredRequest,
    effect: MeteredEffect<Value>,
    choice: Choice | null,
  ): Promise<Metered<Value>> {
    const book = this.book instanceof Promise ? await this.book : this.book;
    const known = this.priced(book, purse, request);
    const most = isUnpriced(known) ? await this.withoutPrice(book, purse, request, known) : known;
    if ("code" in most) return this.refuse(purse, request, most);
    const over = choice === null ? takenOver(purse, request) : purse;
    const payer = over instanceof Promise ? await over : over;
    const isTried = choice === null && this.fitsMostly(request);
    // Whoever listens is told of one call, and not of a try.
    const first = isTried && !calls.hasSubscribers ? this.begin(payer, request, most.terms) : null;
    const tried = first === null ? null : await this.tried(payer, first, request, most, effect);
    if (tried !== null) return tried;
    const isLooked = mayBeFewer(request) || this.mayCount(request);
    const looked = isLooked ? await this.lookedAt(book, purse, request, most) : { quoted: most, seen: null };
    return this.admit({ purse, payer, request, effect, choice, first, looked });
  }

  /** Makes a call that waits for its turn where it has to, and asks for more where a person decides on it. */
  private async admit<Value>({
    purse,
    payer,
    request,
    effect,
    choice,
    first,
    looked,
  }: Admission<Value>): Promise<Metered<Value>> {
    const { quoted } = looked;
    // To count takes a while, so that the path is not the one that it was.
    let path = looked.seen;
    let again = first;
    for (let questions = 0; ; questions++) {
      const call = again?.again(quoted.terms) ?? this.begin(payer, request, quoted.terms);
      again = null;
      let refusal: Refused;
      try {
        const gatedCall = call.gated(quoted.quote, request, path);
        const gated = await payer.gate.call<Value>(gatedCall, (stop, granted) =>
          call.make(effect, request, stop, granted),
        );
        if (gated.kind !== "refused") {
          if (call.told !== null) await call.told.end(gated, call.handed);
          return gated;
        }
        refusal = await turnedDown(payer, call, { gated, wire: quoted.terms.wire }, choice?.unfit ?? null);
      } catch (error) {
        refusal = await broken(payer, call, error);
      }
      const last = await asked(purse, request, refusal, questions);
      if (last !== null) return last;
      // What stood in the books before somebody was asked is of no use after that.
      path = null;
    }
  }

  /** Whether a request is tried by its bytes before its budget is looked at: nearly all of them fit. */
  private fitsMostly(request: MeteredRequest): boolean {
    return this.mayCount(request) && !mayBeFewer(request) && request.path === undefined;
  }

  /** Makes a call that fits at once; null where it does not, and then nothing has happened. */
  private async tried<Value>(
    payer: Purse,
    call: HeldCall,
    request: MeteredRequest,
    { quote }: PricedRequest,
    effect: MeteredEffect<Value>,
  ): Promise<Metered<Value> | null> {
    try {
      const gatedCall: GatedCall = { ...call.gated(quote, request, null), tentative: true };
      const gated = await payer.gate.call<Value>(gatedCall, (stop, granted) =>
        call.make(effect, request, stop, granted),
      );
      return gated.kind === "refused" ? null : gated;
    } catch (error) {
      return await broken(payer, call, error);
    }
  }

  private async refuse(purse: Purse, request: MeteredRequest, report: RefusalReport): Promise<Metered<never>> {
    await this.tell(purse, request, newName(purse.store.clock.now().instant))?.refuse(report);
    return refused(report);
  }

  private begin(purse: Purse, request: MeteredRequest, terms: Terms): HeldCall {
    const id = purse.name?.() ?? newName(purse.store.clock.now().instant);
    return new HeldCall(id, purse, terms, this.tell(purse, request, id));
  }

  private tell(purse: Purse, { wire, url }: MeteredRequest, id: string): ToldCall | null {
    if (!calls.hasSubscribers) return null;
    const { model, protocol, stream } = wire;
    const about = { id, budget: purse.budget, model, protocol, url, stream };
    return new ToldCall(purse, about, purse.store.clock.now().monotonic);
  }

  /** What the request is quoted at, by its bytes, or why nobody can quote it. */
  private priced(
    book: PriceBook,
    purse: Purse,
    request: MeteredRequest,
    uses = MOST_OPEN_USES,
  ): PricedRequest | RefusalReport {
    const wanted = this.wanted(request.wire);
    const { full = purse.full === true } = request;
    return priceRequest(book, request, { wanted, site: this.siteOf(purse, request, wanted), full, uses });
  }

  /** Where no budget on the path limits money, no price is needed. */
  private async withoutPrice(
    book: PriceBook,
    purse: Purse,
    request: MeteredRequest,
    refusal: RefusalReport,
  ): Promise<PricedRequest | RefusalReport> {
    try {
      if (limitsMoney(await purse.store.path(purse.budget))) return refusal;
    } catch (error) {
      const closed = closedBudget(error);
      if (closed === null) throw error;
      return closed;
    }
    const wanted = this.wanted(request.wire);
    const { full = purse.full === true } = request;
    return priceRequest(book, request, { wanted, site: this.siteOf(purse, request, wanted), full, unpriced: true });
  }

  /** The quote by what the budget has left, with what was seen of that, unless it took a while. */
  private async lookedAt(
    book: PriceBook,
    purse: Purse,
    request: MeteredRequest,
    most: PricedRequest,
  ): Promise<{ readonly quoted: PricedRequest; readonly seen: Path | null }> {
    const seen = request.path?.[0]?.id === purse.budget ? request.path : await purse.store.path(purse.budget);
    if (mayBeFewer(request)) return { quoted: this.withFewerUses(book, purse, seen, request, most), seen };
    if (fits(purse.store, seen, mostNeeded(most.quote))) return { quoted: most, seen };
    return { quoted: await this.counted(purse, seen, most, request), seen: null };
  }

  /** With as many uses of hosted tools as the budget pays for now, where the request leaves that open; one at least. */
  private withFewerUses(
    book: PriceBook,
    purse: Purse,
    path: Path,
    request: MeteredRequest,
    most: PricedRequest,
  ): PricedRequest {
    let priced = most;
    for (let uses = MOST_OPEN_USES - 1; uses > 0 && !fits(purse.store, path, mostNeeded(priced.quote)); uses--) {
      const fewer = this.priced(book, purse, request, uses);
      if ("code" in fewer) return priced;
      priced = fewer;
    }
    return priced;
  }

  /** Whether there is somebody who can count tokens, should there be more bytes than fit. */
  private mayCount({ wire, count }: MeteredRequest): boolean {
    return wire.beyond === null && (this.options.tokenizer !== false || count !== undefined);
  }

  private wanted({ output_tokens, model }: WireRequest): number {
    return output_tokens ?? longestOutput(model) ?? this.options.output_tokens ?? OUTPUT_TOKENS;
  }

  /** The place a request comes from. Of several answers nobody can tell how long each of them was. */
  private siteOf(purse: Purse, request: MeteredRequest, wanted: number): Site | null {
    const { wire, site = purse.site } = request;
    if (this.sites === null || wanted === 0 || wire.answers !== 1) return null;
    const key = siteKey(site ?? null, purse.within ?? "", wire);
    return this.sites.find(key, wire.model, purse.store);
  }

  /** The quote by its tokens, where that by its bytes does not fit. */
  private async counted(
    purse: Purse,
    path: Path,
    { terms }: PricedRequest,
    request: MeteredRequest,
  ): Promise<PricedRequest> {
    const needs = (input: number) => mostNeeded(quoteOf({ ...terms, input }));
    const { input: bytes, wire } = terms;
    const { texts, model } = wire;
    let input = bytes;
    // To count takes a while, and nothing is won where not even an empty text would fit.
    if (this.options.tokenizer !== false && texts !== null && fits(purse.store, path, needs(texts.around))) {
      input = Math.min(bytes, (await boundByTokenizer(texts, model)) ?? bytes);
    }
    if (request.count !== undefined) input = await request.count.bound(purse, request, input, needs);
    const counted = { ...terms, input };
    return { terms: counted, quote: quoteOf(counted) };
  }
}

/** Whether nothing but a price is missing. */
function isUnpriced(priced: PricedRequest | RefusalReport): priced is RefusalReport {
  return "code" in priced && priced.code === "unknown_price";
}

/** Whether a request leaves it open how often the provider's tools are used. */
function mayBeFewer({ wire }: MeteredRequest): boolean {
  return wire.hosted?.uses === null;
}

/** What a request needs of every dimension: all of what cannot be cut, and the least of what can. */
function mostNeeded({ asked, least }: Quote): Amounts {
  return { ...asked, ...least };
}

/** Tells whoever wants to know that a call was not let in. */
async function turnedDown(
  purse: Purse,
  call: HeldCall,
  { gated, wire }: { readonly gated: TurnedDown; readonly wire: WireRequest },
  unfit: Unfit,
): Promise<Refused> {
  const decision = judged(gated.decision, unfit);
  const told = reportDecision(decision, gated.message, purse.store.dimensions);
  const report = wire.hosted === undefined ? told : { ...told, hint: `${told.hint}; ${WITHOUT_HOSTED}` };
  purse.refused?.(decision, gated.message);
  await call.told?.refuse(report);
  return refused(report, decision);
}

/** A call that could not be made, or not be settled. Where its budget is closed, it is refused. */
async function broken({ store }: Purse, call: HeldCall, error: unknown): Promise<Refused> {
  // Nothing was sent, so nothing is held; what cannot be given back now expires.
  if (!call.begun) await store.apply([{ op: "release", call: call.id }]).catch(() => {});
  const report = call.begun ? null : closedBudget(error);
  await (report === null ? call.told?.fail(error) : call.told?.refuse(report));
  if (report === null) throw error;
  return refused(report);
}

/** Asks for more where a person decides on it; null when he has given something, and the refusal otherwise. */
async function asked(
  purse: Purse,
  { signal }: MeteredRequest,
  refusal: Refused,
  questions: number,
): Promise<Refused | null> {
  const { decision, report } = refusal;
  // Who has hung up is not told of a budget that he waited for in vain.
  signal?.throwIfAborted();
  if (decision?.kind !== "paused" || questions === MOST_QUESTIONS) return refusal;
  try {
    return (await untilAborted(extended(purse, decision, report), signal)) ? null : refusal;
  } catch (error) {
    if (error instanceof BudgetExceededError) return refused(error.report, decision);
    throw error;
  }
}

function refused(report: RefusalReport, decision: Decision | null = null): Refused {
  return { kind: "refused", report, decision };
}
