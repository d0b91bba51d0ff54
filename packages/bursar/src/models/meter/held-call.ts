import type { Amount, Amounts } from "../../core/amount.js";
import type { Path } from "../../core/budget.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import { readAmount } from "../../core/dimension.js";
import type { Dimensions } from "../../core/dimensions.js";
import { STANDARD } from "../../core/dimensions.js";
import { type BudgetAmounts, readAmounts } from "../../core/input.js";
import type { Operation } from "../../core/operation.js";
import type { AnswerNote } from "../../ports/model.js";
import { noteOperations } from "../../runtime/answer-notes.js";
import type { Filling } from "../../runtime/filling.js";
import type { Effected, GatedCall } from "../../runtime/gate.js";
import { costUnknown } from "../../runtime/money-limit.js";
import type { Purse, Round } from "../../runtime/purse.js";
import { answeredPrice } from "../prices/answered-price.js";
import { isPriced } from "../prices/no-price.js";
import type { Price } from "../prices/price.js";
import { type AnswerClaims, NO_CLAIMS } from "../wire/answer-claims.js";
import { type SentText, writeSent } from "../wire/source.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { chargeAnswer, chargeUnreported } from "./answer-charge.js";
import type { Held, MeteredEffect, MeteredRequest, Seen } from "./meter.js";
import { NOTHING_AT_ALL } from "./nothing-used.js";
import { atEdge, boundOf, learnedOf, mostOfCall, outputOf, type Quote, type Terms, type Used, usdOf } from "./quote.js";
import type { ToldCall } from "./told-call.js";

/** Of a call that was not begun. */
const NEVER = new AbortController().signal;

const NONE: readonly Operation[] = [];
const COST = STANDARD.get("cost_usd");

const nothing = (): null => null;
const noClaims = (): AnswerClaims => NO_CLAIMS;

/** As few of them are met as there are models, and a text that was made before is written and compared faster. */
const MOST_CAPABILITIES = 256;
const capabilities = new Map<string, string>();

function capabilityOf(model: string): string {
  const known = capabilities.get(model);
  if (known !== undefined) return known;
  const capability = `llm:${model}`;
  if (capabilities.size >= MOST_CAPABILITIES) capabilities.clear();
  capabilities.set(model, capability);
  return capability;
}

/** One attempt at a request, from its quote to what it is charged. It is all in one object, because one is made for every call. */
export class HeldCall implements Held {
  /** Whether the effect was begun: until then nothing can have been sent. */
  begun = false;
  /** Whether somebody further down pays for it. */
  handed = false;
  readonly id: string;
  body: JsonObject = {};
  output_tokens = 0;
  granted: Amounts = {};
  signal: AbortSignal = NEVER;
  private readonly purse: Purse;
  private readonly terms: Terms;
  /** Whoever is told of it; null when nobody is. */
  readonly told: ToldCall | null;
  private readonly round: Round | null;
  private ask: () => Seen | null = nothing;
  private final: () => TokenCounts | null = nothing;
  private claims: () => AnswerClaims = noClaims;
  /** What the chain is told of the answer's price. */
  private notes: readonly AnswerNote[] = [];
  private written: SentText | null = null;
  private written_bytes: number | null = null;
  /** What was last counted, in both units. */
  private counted: { readonly usage: BudgetAmounts; readonly used: Used } | null = null;
  /** What calls like it need, if that is known. */
  private learned: Amounts | null = null;
  /** The most that one answer may have, as it was sent. */
  private most = 0;

  constructor(id: string, purse: Purse, terms: Terms, told: ToldCall | null) {
    const { round = null } = purse;
    this.id = id;
    this.purse = purse;
    this.terms = terms;
    this.told = told;
    this.round = round?.counted === false ? round : null;
  }

  /** The same call, quoted anew. */
  again(terms: Terms): HeldCall {
    return new HeldCall(this.id, this.purse, terms, this.told);
  }

  /** What it asks for: its quote, what calls like it need if that is less, and the round that it begins. */
  private quote({ asked, least }: Quote, dimensions: Dimensions): Quote {
    this.learned = learnedOf(this.terms);
    const quote = this.learned === null ? { asked, least } : { asked, least, learned: this.learned };
    if (this.round === null) return quote;
    return { ...quote, asked: { ...asked, ...readAmounts(this.round.amounts, dimensions) } };
  }

  /** What is charged where no usage is known, if anything was seen. */
  seen(): BudgetAmounts | null {
    if (this.handed) return NOTHING_AT_ALL;
    const known = this.ask();
    return known === null ? this.unreported() : this.bound(known);
  }

  /** The most that a call which broke off can have used, at the price that its answer has named by then. */
  private bound(known: Seen): BudgetAmounts {
    const { terms } = this;
    if (!isPriced(terms.price)) return { ...boundOf(known, terms, terms.price), ...this.egress };
    const claims = this.claims();
    const price = claims.models.length === 0 ? terms.quoted : answeredPrice(terms, claims).price;
    const bound = boundOf(known, terms, price);
    const granted = { cost_usd: this.nanoIn(boundOf(known, terms, terms.price)) };
    const most = this.nanoIn(bound);
    const { cost_usd, notes } = chargeUnreported(terms, granted, claims, () => most);
    this.notes = notes;
    const dearest = Math.max(most, cost_usd ?? 0);
    return { ...bound, ...(dearest > most && { cost_usd: usdOf(dearest) }), ...this.egress };
  }

  /** The most of an answer that has not said what it used; null where it is charged as it was reserved. */
  private unreported(): BudgetAmounts | null {
    const { terms, granted, output_tokens } = this;
    const most = (price: Price) => mostOfCall(terms, output_tokens, price);
    const { cost_usd, notes } = chargeUnreported(terms, granted, this.claims(), most);
    this.notes = notes;
    return cost_usd === null ? null : { cost_usd: usdOf(cost_usd), ...this.egress };
  }

  private nanoIn({ cost_usd }: BudgetAmounts): Amount {
    return readAmount(COST, cost_usd ?? 0, "up", "cost_usd");
  }

  /**
   * The chain is told of the answer's price, however the call has ended, and where the cost is unknown. What was not made, or was
   * answered before, costs nothing.
   */
  private alongside(reported: Amounts): readonly Operation[] {
    const { notes, terms } = this;
    const isKnown = isPriced(terms.price);
    if (this.handed || (isKnown && notes.length === 0)) return NONE;
    const about = { budget: this.purse.budget, call_id: this.id, capability_id: capabilityOf(terms.wire.model) };
    return isKnown ? noteOperations(about, notes) : costUnknown(reported, about);
  }

  /** What the provider has reported of a call that broke off all the same, as at the very end of a stream. */
  reported(): Amounts | null {
    if (this.handed) return null;
    const counts = this.counted === null ? this.final() : null;
    if (counts !== null) this.usage(counts);
    return this.counted === null ? null : this.withEgress(this.counted.used);
  }

  /** The call as the gate takes it. */
  gated(quote: Quote, request: MeteredRequest, path: Path | null): GatedCall {
    const { budget, store, unrecorded } = this.purse;
    const { wire, signal, heeds, onWait, wait_ms = this.purse.wait_ms } = request;
    const call: Filling<GatedCall> = {
      budget,
      call_id: this.id,
      capability_id: capabilityOf(wire.model),
      kind: "model",
      ledger: this.quote(quote, store.dimensions),
      seen: () => this.seen(),
      reported: () => this.reported(),
      alongside: (reported) => this.alongside(reported),
    };
    if (path !== null) call.path = path;
    if (request.pathAfter === true) call.pathAfter = true;
    if (signal !== undefined) call.signal = signal;
    if (heeds !== undefined) call.heeds = heeds;
    if (wait_ms !== undefined) call.wait_ms = wait_ms;
    if (onWait !== undefined) call.onWait = onWait;
    if (unrecorded === true) call.unrecorded = true;
    return call;
  }

  make<Value>(
    effect: MeteredEffect<Value>,
    request: MeteredRequest,
    signal: AbortSignal,
    granted: Amounts,
  ): Promise<Effected<Value>> {
    this.begun = true;
    if (this.round !== null) this.round.counted = true;
    this.grant(signal, granted);
    return effect(this, request).then((made) => this.read(made));
  }

  /** What was made, as the gate settles it. */
  private read<Value>(made: Effected<Value>): Effected<Value> {
    const { usage } = made;
    // What was counted here is in the units of the ledger already.
    if (usage !== undefined && usage === this.counted?.usage) {
      const { used } = this.counted;
      const alongside = this.remember(used, this.granted, made.alongside);
      return { value: made.value, used: this.withEgress(used), alongside };
    }
    // What was sent is known, whatever else is.
    return typeof usage === "object" && usage !== null ? { ...made, usage: { ...this.egress, ...usage } } : made;
  }

  /** How long its answer was tells what calls like it need. That it was cut short for the sake of others goes on record. */
  private remember(used: Amounts, granted: Amounts, others: readonly Operation[] = NONE): readonly Operation[] {
    const { wire, site, wanted } = this.terms;
    if (site === null) return others;
    const output = used.llm_output_tokens ?? 0;
    const cut = output >= this.most;
    const { store, budget } = this.purse;
    site.add(output, cut, store);
    if (!cut || this.learned?.llm_output_tokens !== granted.llm_output_tokens) return others;
    const { id: call_id, most: output_tokens } = this;
    const about = { budget, call_id, capability_id: capabilityOf(wire.model), site: site.id };
    const action = { action_type: "AnswerCut", data: { ...about, output_tokens, full_output_tokens: wanted } };
    return [...others, { op: "record", budget, action }];
  }

  get text(): string {
    this.written ??= writeSent(this.body, this.terms.wire.source);
    return this.written.text;
  }

  get text_bytes(): number {
    const { text } = this;
    this.written_bytes ??= this.written?.bytes ?? Buffer.byteLength(text);
    return this.written_bytes;
  }

  usage(counts: TokenCounts): BudgetAmounts {
    this.told?.count(counts);
    const { used, notes } = chargeAnswer(this.terms, counts, this.claims());
    this.notes = notes;
    const usage = atEdge(used);
    this.counted = { usage, used };
    return usage;
  }

  claim(claims: AnswerClaims): void {
    this.claims = () => claims;
  }

  follow(seen: () => Seen | null, counts: () => TokenCounts | null, claims: () => AnswerClaims): void {
    this.ask = seen;
    this.final = counts;
    this.claims = claims;
  }

  handedDown(): void {
    this.handed = true;
    if (this.round !== null) this.round.counted = false;
  }

  /** Holds the request to what was granted. */
  private grant(signal: AbortSignal, granted: Amounts): void {
    const { wire } = this.terms;
    this.signal = signal;
    this.granted = granted;
    this.output_tokens = outputOf(this.terms, granted);
    this.most = Math.floor(this.output_tokens / Math.max(1, wire.answers));
    this.body = wire.held(this.most);
  }

  /** Written out, because to add a member to a copy takes longer than to write all of them. */
  private withEgress(used: Used): Amounts {
    const { network_egress_bytes: sent } = this.egress;
    if (sent === undefined) return used;
    const { llm_input_tokens, llm_output_tokens, llm_tokens, cost_usd } = used;
    if (cost_usd === undefined) return { ...used, network_egress_bytes: sent as Amount };
    return { llm_input_tokens, llm_output_tokens, llm_tokens, cost_usd, network_egress_bytes: sent as Amount };
  }

  private get egress(): BudgetAmounts {
    const { egress_bytes } = this.terms;
    if (egress_bytes === 0) return {};
    return { network_egress_bytes: this.written === null ? egress_bytes : this.text_bytes };
  }
}
