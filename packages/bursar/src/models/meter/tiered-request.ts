import type { Amount, Amounts } from "../../core/amount.js";
import { InputError, show } from "../../core/errors.js";
import type { Purse } from "../../runtime/purse.js";
import { quotedPrice } from "../prices/answered-price.js";
import type { PriceBook } from "../prices/price.js";
import type { Choice, Chooser, Offer } from "../tiers/chooser.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import type { MeteredRequest } from "./meter.js";
import type { OpenModel } from "./open-model.js";
import { quoteOf } from "./quote.js";

/** A request, now that it is said which model answers it. */
export interface TieredRequest {
  readonly request: MeteredRequest;
  readonly choice: Choice;
}

/** A request that says nothing of how long its answer may be is not chosen by the longest that its model can give. */
const OUTPUT_TOKENS = 4096;
/** About so many bytes make a token; only for a guess whether a request is too long for a model. */
const BYTES_PER_TOKEN = 3;

/** Chooses the tier for a request, and tells the chain of it when that is a switch. It throws `InputError` when there is none. */
export async function tieredRequest(
  chooser: Chooser,
  { store, budget, chain }: Purse,
  request: MeteredRequest & { readonly open: OpenModel },
  { book, output_tokens = OUTPUT_TOKENS }: { readonly book: PriceBook; readonly output_tokens?: number | undefined },
): Promise<TieredRequest> {
  const { open, ...rest } = request;
  const list = chooser.listFor(open.model);
  if (list === null) throw new TypeError(`${open.model} is no list of tiers`);
  const made = list.tiers.map((tier) => {
    const each = open.as(tier);
    return each === null ? null : { ...rest, ...each };
  });
  const offers = made.map((each, index) => {
    const offer = each === null ? null : offerOf(each, book, output_tokens);
    return offer === null ? null : { ...offer, window: list.tiers[index]?.context_window ?? offer.window };
  });
  const choice = await chooser.choose({ store, budget, chain }, { list, ...open }, offers);
  const { switched, tier } = choice;
  const chosen = made[list.tiers.indexOf(tier)] ?? null;
  if (chosen === null)
    throw new InputError("model", `is ${show(open.model)}, and ${tier.name} does not take the request`);
  try {
    if (switched !== null) await store.apply([{ op: "record", budget, action: switched }]);
  } catch (error) {
    choice.entered();
    choice.untold();
    throw error;
  }
  return { choice, request: { ...chosen, chosen: { list: list.name, tier: tier.name, model: tier.model } } };
}

/** What a request may use at a tier; null where nobody knows its price, or how large it is. */
function offerOf({ wire, url, egress_bytes }: MeteredRequest, book: PriceBook, usual: number): Offer | null {
  const price = book.find(wire.model, { url, protocol: wire.protocol });
  if (price === null || (wire.beyond !== null && price.context_window === null)) return null;
  const window = price.context_window;
  const input = wire.beyond === null ? wire.input_tokens : Math.max(wire.input_tokens, window ?? 0);
  const wanted = Math.max(wire.output_tokens ?? usual, wire.least_output > usual ? 0 : wire.least_output);
  try {
    const { model, protocol } = wire;
    const quoted = quotedPrice({ book, price, model, url, protocol });
    const { asked } = quoteOf({ wire, quoted, input, wanted, egress_bytes });
    const tokens = wire.beyond === null ? Math.ceil(wire.input_tokens / BYTES_PER_TOKEN) : 0;
    return { quote: withTotal(asked), tokens: tokens + (wire.output_tokens ?? 0), window };
  } catch (error) {
    if (error instanceof UnboundedError) return null;
    throw error;
  }
}

/** Input and output count together too. */
function withTotal(asked: Amounts): Amounts {
  const total = (asked.llm_input_tokens ?? 0) + (asked.llm_output_tokens ?? 0);
  return { ...asked, llm_tokens: total as Amount };
}
