import type { Amounts } from "../../core/amount.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import { roomOf } from "../../core/cut.js";
import type { Decision } from "../../core/decision.js";
import { InputError, show } from "../../core/errors.js";
import type { BudgetAmounts } from "../../core/input.js";
import type { CommitOperation, OutcomeOf } from "../../core/operation.js";
import type { Store } from "../../ports/store.js";
import type { TiersOptions } from "../../ports/tiers.js";
import type { Effected } from "../../runtime/gate.js";
import { newName } from "../../runtime/names.js";
import type { Purse } from "../../runtime/purse.js";
import { judged, type Unfit } from "../../runtime/unfit.js";
import { takeHold } from "../../runtime/waiting-holds.js";
import { openPrices, type PricesOptions } from "../prices/open-prices.js";
import type { PriceBook } from "../prices/price.js";
import { howToPrice } from "../prices/stated-price.js";
import { siteKey } from "../reservations/site-key.js";
import { Sites } from "../reservations/sites.js";
import type { Siting } from "../reservations/siting.js";
import { type Choice, Chooser } from "../tiers/chooser.js";
import type { ChosenTier, OpenModel } from "../tiers/open-model.js";
import { readTiers, type TierList } from "../tiers/tier-list.js";
import { checkTierPrices } from "../tiers/tier-prices.js";
import { type TieredRequest, tieredRequest } from "../tiers/tiered-request.js";
import { boundByTokenizer } from "../tokens/tokenizer-bound.js";
import type { Protocol, WireRequest } from "../wire/protocol.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import { extended } from "./approval.js";
import { BudgetExceededError } from "./budget-exceeded-error.js";
import { calls } from "./call-record.js";
import { HeldCall } from "./held-call.js";
import { longestOutput } from "./longest-output.js";
import { quoteOf, type Terms } from "./quote.js";
import { type RefusalReport, reportDecision, unbounded } from "./refusal.js";
import { ToldCall } from "./told-call.js";

export interface MeterOptions extends PricesOptions {
  /** The most an answer may have when neither the request nor the model's maker says so: 4,096. */
  readonly output_tokens?: number;
  /** Whether a tokenizer may show that a request is smaller than its bytes, when it would not fit otherwise: true. */
  readonly tokenizer?: boolean;
  /**
   * What is held for a call when little is left and others hold something too: what calls from the same place have needed so far
   * ("learned"), so that more of them run at once, or always as much as its answer may have at most ("full"). In either case no
   * answer can have more than what is held for it.
   */
  readonly reservations?: Reservations;
  /** Lists of models to choose from: a request for `bursar/<name>` goes to the best of a list that fits what is left. */
  readonly tiers?: TiersOptions;
}

export type Reservations = "learned" | "full";

/** A request that wants to be made. */
export interface MeteredRequest extends Siting {
  readonly protocol: Protocol;
  readonly wire: WireRequest;
  /** Where it goes; the price may depend on it. */
  readonly url: string | null;
  /** How many bytes are sent; 0 where nobody can tell. */
  readonly egress_bytes: number;
  readonly signal?: AbortSignal;
  readonly wait_ms?: number;
  /** Told when it has to wait for what others hold. */
  readonly onWait?: () => void;
  /** Set when the request leaves open which model answers it. */
  readonly open?: OpenModel;
  /** Which one it was given then. */
  readonly chosen?: ChosenTier;
}

/** Makes a request that was let in; as it is made, for whoever has left the model open. */
export type MeteredEffect<Value> = (held: Held, request: MeteredRequest) => Promise<Effected<Value>>;

/** A request that was let in: what may be sent, and how to tell what came of it. */
export interface Held {
  readonly id: string;
  /** The body, held to what was granted. */
  readonly body: JsonObject;
  /** The same as it is sent. Whoever sends this is charged for its bytes, and not for those of the request as it came. */
  readonly text: string;
  /** The most output of all its answers together. */
  readonly output_tokens: number;
  /** What is held for it, in ledger units. */
  readonly granted: Amounts;
  readonly signal: AbortSignal;
  /** What an answer is charged when the provider has reported it. */
  usage(counts: TokenCounts): BudgetAmounts;
  /** Says where to ask what was seen so far, should the call break off. */
  follow(seen: () => Seen | null): void;
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
  | { readonly kind: "done"; readonly value: Value; readonly settled: OutcomeOf<CommitOperation> }
  | { readonly kind: "failed"; readonly error: unknown; readonly settled: OutcomeOf<CommitOperation> }
  | { readonly kind: "refused"; readonly report: RefusalReport; readonly decision: Decision | null };

const OUTPUT_TOKENS = 4096;
/** A person who extends a budget again and again by too little is not asked for ever. */
const MOST_QUESTIONS = 10;

/** Nothing was computed, so nothing is charged but the attempt. */
export const NOTHING_USED: BudgetAmounts = {
  llm_input_tokens: 0,
  llm_output_tokens: 0,
  llm_tokens: 0,
  cost_usd: 0,
};

/** Not even the request was sent. */
export const NOTHING_SENT: BudgetAmounts = { ...NOTHING_USED, network_egress_bytes: 0 };

/** Not even the attempt: those that were made count by themselves. */
export const NOTHING_AT_ALL: BudgetAmounts = { ...NOTHING_SENT, steps: 0, iterations: 0, depth: 0 };

/**
 * Makes model calls through the gate: it knows what a request may cost at most, holds it to what is left, and charges what it
 * really used.
 */
export class Meter {
  private readonly options: MeterOptions;
  /** Null where nothing is learned. */
  private readonly sites: Sites | null;
  private book: Promise<PriceBook> | PriceBook;
  private readonly chooser: Chooser | null;
  private checked: Promise<void> | null = null;

  constructor(options: MeterOptions = {}) {
    this.options = options;
    const { output_tokens: _, tokenizer: __, reservations = "learned", tiers, ...prices } = options;
    if (reservations !== "learned" && reservations !== "full") {
      throw new InputError("reservations", `is ${show(reservations)}; allowed: "learned" or "full"`);
    }
    this.sites = reservations === "learned" ? new Sites() : null;
    this.chooser = tiers === undefined ? null : new Chooser(readTiers(tiers));
    this.book = openPrices(prices).then((book) => {
      this.book = book;
      return book;
    });
    // Whoever makes the first call is told; until then nobody waits for it.
    this.book.catch(() => {});
  }

  async call<Value>(purse: Purse, request: MeteredRequest, effect: MeteredEffect<Value>): Promise<Metered<Value>> {
    const { open } = request;
    if (open === undefined) return this.made(purse, request, (held) => effect(held, request), null);
    // What is held for it further out goes first: it would be missing from what is left.
    const payer = await takenOver(purse, request);
    const tiered = await this.choose(payer, { ...request, open });
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

  /** The lists that there are to choose from. */
  get lists(): readonly TierList[] {
    return this.chooser === null ? [] : [...this.chooser.lists];
  }

  private async choose(
    payer: Purse,
    request: MeteredRequest & { readonly open: OpenModel },
  ): Promise<TieredRequest | RefusalReport> {
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

  /** Makes a call to the model that it names. Where that was chosen, what was held for it is handed down already. */
  private async made<Value>(
    purse: Purse,
    request: MeteredRequest,
    effect: (held: Held) => Promise<Effected<Value>>,
    choice: Choice | null,
  ): Promise<Metered<Value>> {
    const terms = await this.terms(purse, request);
    if ("code" in terms) return this.refuse(purse, request, terms);
    const payer = choice === null ? await takenOver(purse, request) : purse;
    for (let questions = 0; ; questions++) {
      const metered = await this.attempt(payer, request, terms, effect, choice?.unfit ?? null);
      if (metered.kind !== "refused") return metered;
      const { decision, report } = metered;
      // Who has hung up is not told of a budget that he waited for in vain.
      request.signal?.throwIfAborted();
      if (decision?.kind !== "paused" || questions === MOST_QUESTIONS) return metered;
      try {
        if (!(await unlessAborted(extended(purse, decision, report), request.signal))) return metered;
      } catch (error) {
        if (error instanceof BudgetExceededError) return refused(error.report, decision);
        throw error;
      }
    }
  }

  private async refuse(purse: Purse, request: MeteredRequest, report: RefusalReport): Promise<Metered<never>> {
    await this.tell(purse, request, newName(purse.store.clock.now().instant))?.refuse(report);
    return refused(report);
  }

  private async attempt<Value>(
    purse: Purse,
    request: MeteredRequest,
    terms: Terms,
    effect: (held: Held) => Promise<Effected<Value>>,
    unfit: Unfit,
  ): Promise<Metered<Value>> {
    const { gate, store, budget } = purse;
    const { wire, signal, onWait, wait_ms = purse.wait_ms } = request;
    const call_id = purse.name?.() ?? newName(store.clock.now().instant);
    const told = this.tell(purse, request, call_id);
    const call = new HeldCall(call_id, purse, terms, told);
    try {
      const gated = await gate.call<Value>(
        {
          ...{ budget, call_id, capability_id: `llm:${wire.model}`, kind: "model" },
          ledger: call.quote(store.dimensions),
          ...(signal !== undefined && { signal }),
          ...(wait_ms !== undefined && { wait_ms }),
          ...(onWait !== undefined && { onWait }),
          seen: () => call.seen(),
        },
        (stop, granted) => call.make(effect, stop, granted),
      );
      if (gated.kind !== "refused") {
        await told?.end(gated, call.handed);
        return gated;
      }
      const decision = judged(gated.decision, unfit);
      const report = reportDecision(decision, gated.message, store.dimensions);
      purse.refused?.(decision, gated.message);
      await told?.refuse(report);
      return refused(report, decision);
    } catch (error) {
      if (!call.begun) await giveBack(store, call_id);
      const report = call.begun ? null : closedBudget(error);
      await (report === null ? told?.fail(error) : told?.refuse(report));
      if (report === null) throw error;
      return refused(report);
    }
  }

  private tell(purse: Purse, { wire, url }: MeteredRequest, id: string): ToldCall | null {
    if (!calls.hasSubscribers) return null;
    const { model, protocol, stream } = wire;
    const about = { id, budget: purse.budget, model, protocol, url, stream };
    return new ToldCall(purse, about, purse.store.clock.now().monotonic);
  }

  /** What the request is quoted by, or why nobody can quote it. */
  private async terms(purse: Purse, request: MeteredRequest): Promise<Terms | RefusalReport> {
    const { wire, url, egress_bytes } = request;
    const book = this.book instanceof Promise ? await this.book : this.book;
    const price = book.find(wire.model, { url, protocol: wire.protocol });
    if (price === null) return unknownPrice(wire.model);
    const wanted = this.wanted(wire);
    try {
      const known = { wire, price, wanted, egress_bytes, ...this.siteOf(purse, request, wanted) };
      const input = await this.inputOf(purse, known);
      return input === null ? unboundedInput(wire) : { ...known, input };
    } catch (error) {
      if (error instanceof UnboundedError) return unbounded(error.message);
      throw error;
    }
  }

  private wanted({ output_tokens, model }: WireRequest): number {
    return output_tokens ?? longestOutput(model) ?? this.options.output_tokens ?? OUTPUT_TOKENS;
  }

  /** The place a request comes from. Of several answers nobody can tell how long each of them was. */
  private siteOf(purse: Purse, request: MeteredRequest, wanted: number): Pick<Terms, "site" | "full"> {
    const { wire, site = purse.site, full = purse.full === true } = request;
    if (this.sites === null || wanted === 0 || wire.answers !== 1) return { site: null, full };
    const key = siteKey(site ?? null, purse.within ?? "", wire);
    return { site: this.sites.find(key, wire.model, purse.store), full };
  }

  /** No fewer tokens than the provider will count; null when nobody can tell. */
  private async inputOf(purse: Purse, terms: Omit<Terms, "input">): Promise<number | null> {
    const { wire, price } = terms;
    const { context_window: window } = price;
    if (wire.beyond !== null && window === null) return null;
    // What is in the request counts with its bytes even where the window is said to be smaller: that may be a mistake.
    const bytes = wire.beyond === null ? wire.input_tokens : Math.max(wire.input_tokens, window ?? 0);
    const needs = (input: number) => {
      const { asked, least } = quoteOf({ ...terms, input });
      return { ...asked, ...least };
    };
    const whole = needs(bytes);
    if (wire.beyond !== null || this.options.tokenizer === false || (await fits(purse, whole))) return bytes;
    const { texts } = wire;
    // To count takes a while, and nothing is won where not even an empty text would fit.
    if (texts === null || !(await fits(purse, needs(texts.around)))) return bytes;
    const counted = await boundByTokenizer(texts, wire.model);
    return counted === null ? bytes : Math.min(bytes, counted);
  }
}

/** Whoever holds something for this call knew less about it, and hands it down. Only who sees the request takes what was left for it. */
async function takenOver(purse: Purse, { url, wire }: MeteredRequest): Promise<Purse> {
  const { store, budget, leaver = null } = purse;
  const isSeen = purse.hold === undefined && url !== null;
  const left = isSeen ? takeHold({ store, budget, model: wire.model, leaver }) : null;
  await (purse.hold ?? left?.hold)?.handDown();
  return left === null || left.round === null ? purse : { ...purse, round: left.round };
}

/** Whether the least that a request needs fits, as far as can be seen now. */
async function fits({ store, budget }: Purse, amounts: Amounts): Promise<boolean> {
  const path = await store.path(budget);
  const time = store.clock.now();
  return Object.entries(amounts).every(([id, amount]) => roomOf(path, id, time, store.dimensions) >= amount);
}

/** Nothing was sent, so nothing is held; what cannot be given back now expires. */
async function giveBack(store: Store, call: string): Promise<void> {
  await store.apply([{ op: "release", call }]).catch(() => {});
}

/** The answer, unless whoever wants it hangs up before it is there. */
function unlessAborted<Value>(answer: Promise<Value>, signal: AbortSignal | undefined): Promise<Value> {
  if (signal === undefined) return answer;
  return new Promise((resolve, reject) => {
    const leave = () => reject(signal.reason);
    signal.addEventListener("abort", leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", leave));
  });
}

function refused(report: RefusalReport, decision: Decision | null = null): Metered<never> {
  return { kind: "refused", report, decision };
}

function noTiers(model: string): RefusalReport {
  const message = `there are no tiers to choose ${JSON.stringify(model)} from`;
  return { code: "invalid_request", message, hint: "name a model, or give lists of them as tiers" };
}

function invalidModel(message: string): RefusalReport {
  return { code: "invalid_request", message, hint: "correct the request" };
}

function unknownPrice(model: string): RefusalReport {
  const message = `nobody knows what the model ${JSON.stringify(model)} costs, so it is not called`;
  return { code: "unknown_price", message, hint: `${howToPrice(model)}, or say what to assume` };
}

/** A budget that has ended, or that is paused, takes no calls. To fail would make an SDK try again. */
function closedBudget(error: unknown): RefusalReport | null {
  if (!(error instanceof Error && "code" in error && error.code === "ledger_state")) return null;
  return { code: "no_budget", message: error.message, hint: "make the call inside of a budget that is open" };
}

function unboundedInput({ beyond, model }: WireRequest): RefusalReport {
  const message = `${beyond} adds input of unknown size, and nobody knows how much ${JSON.stringify(model)} can take`;
  return unbounded(message, "state the model's context_window with its price");
}
