import type { Amount, Amounts } from "../../core/amount.js";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import type { Dimensions } from "../../core/dimensions.js";
import { InputError } from "../../core/errors.js";
import { type BudgetAmounts, readAmounts } from "../../core/input.js";
import type { Calling, CallSite, Choosing, Model, ModelAnswer, ModelChoice, SitedCall } from "../../ports/model.js";
import type { TiersOptions } from "../../ports/tiers.js";
import { extractUsage } from "../../runtime/reported-usage.js";
import { Chooser, type Offer } from "./chooser.js";
import { needsOf } from "./needs.js";
import { modelNamed, readTiers, type TierList } from "./tier-list.js";
import { NO_WISH, readWish, type Wish } from "./wish.js";

const ONE = 1 as Amount;
const NO_OFFER: Asked & { readonly quote: Amounts } = { asked: {}, quote: {} };

/** A quote in edge units. */
interface Asked {
  readonly asked: BudgetAmounts;
}

/** About so many bytes make a token; only for a guess whether a request is too long for a model. */
const BYTES_PER_TOKEN = 3;

/**
 * A model that leaves open which one answers: requests for `bursar/<list>` go to the best of a list that fits what is left of the
 * run. A request may name a tier, say what it needs, or be one of several that stay together: `bursar: { tier: "large", needs:
 * ["tools"], step: "chapter 3" }`. What requests with a model of their own go to is not touched. The model behind it has to know a price for every tier.
 *
 * @example
 * ```ts
 * const model = tieredModel(chatModel({ url, model: "gpt-5" }), {
 *   lists: { auto: { tiers: [{ name: "large", model: "gpt-5" }, { name: "small", model: "gpt-5-mini" }] } },
 * });
 * const bursar = openBursar({ store, model, programs: [summarize] });
 * ```
 */
export function tieredModel(model: Model, tiers: TiersOptions): Model {
  return new TieredModel(model, new Chooser(readTiers(tiers)), model.name);
}

export class TieredModel implements Model {
  readonly name?: string;
  private readonly model: Model;
  private readonly chooser: Chooser;

  constructor(model: Model, chooser: Chooser, name: string | undefined) {
    this.model = model;
    this.chooser = chooser;
    if (name !== undefined) this.name = name;
  }

  /** Who does not choose gets the first tier, which is the dearest. */
  quote(request: Json): BudgetAmounts | Promise<BudgetAmounts> {
    return this.model.quote(this.first(request));
  }

  call(request: Json, options: Calling): Promise<ModelAnswer> {
    return this.model.call(this.first(request), options);
  }

  async sited(request: Json, about: CallSite): Promise<SitedCall | null> {
    return (await this.model.sited?.(this.first(request), about)) ?? null;
  }

  async choose(request: Json, about: Choosing): Promise<ModelChoice | null> {
    const { list, wish, body } = this.read(request);
    if (list === null) return null;
    // What is held for a call that is over would look as if it were spent.
    await about.settled?.();
    const { dimensions } = about.store;
    const offers = await this.offers(list, body, dimensions);
    const choice = await this.chooser.choose(about, { list, ...wish, shown: needsOf(body) }, offers);
    const { tier, switched, unfit, entered, untold } = choice;
    const { asked, quote } = offers[list.tiers.indexOf(tier)] ?? NO_OFFER;
    const { model } = tier;
    // What says nothing is charged as it was quoted.
    const used: ModelChoice["used"] = (usage) =>
      choice.cost(extractUsage(usage, dimensions).amounts.cost_usd ?? quote.cost_usd ?? 0);
    return { model, request: { ...body, model }, asked, switched, unfit, entered, untold, used };
  }

  private async offers(
    { tiers }: TierList,
    body: JsonObject,
    dimensions: Dimensions,
  ): Promise<readonly (Offer & Asked)[]> {
    // Its size matters only where somebody says how much a model takes.
    const isBounded = tiers.some(({ context_window }) => context_window !== null);
    const tokens = isBounded ? Math.ceil(Buffer.byteLength(JSON.stringify(body)) / BYTES_PER_TOKEN) : 0;
    const offers: (Offer & Asked)[] = [];
    for (const { model, context_window: window } of tiers) {
      const quoted = this.model.quote({ ...body, model });
      // Most models know at once, and to wait for those that do takes longer than all the rest.
      const asked = quoted instanceof Promise ? await quoted : quoted;
      offers.push({ asked, quote: { steps: ONE, ...readAmounts(asked, dimensions) }, tokens, window });
    }
    return offers;
  }

  private first(request: Json): Json {
    const { list, body } = this.read(request);
    const [tier] = list?.tiers ?? [];
    return tier === undefined ? request : { ...body, model: tier.model };
  }

  /** A request without what is meant for us alone. */
  private read(request: Json): { readonly list: TierList | null; readonly wish: Wish; readonly body: JsonObject } {
    const given = typeof request === "string" ? { prompt: request } : request;
    if (typeof given !== "object" || given === null || Array.isArray(given)) {
      return { list: null, wish: NO_WISH, body: {} };
    }
    const { bursar, ...rest } = given as JsonObject;
    const wish = readWish(bursar, "request.bursar");
    const { site, full, step: _, ...about } = (bursar ?? {}) as JsonObject;
    const siting = { ...(site !== undefined && { site }), ...(full !== undefined && { full }) };
    // Where a call comes from is for the model to know that answers it.
    const body = Object.keys(siting).length === 0 ? rest : { ...rest, bursar: siting };
    const list = this.chooser.listFor(rest.model ?? this.name);
    if (list === null && Object.keys(about).length > 0) {
      const known = [...this.chooser.lists].map(modelNamed).join(", ");
      throw new InputError("request.bursar", `is about tiers, and the request names its model; ask for ${known}`);
    }
    return { list, wish, body };
  }
}
