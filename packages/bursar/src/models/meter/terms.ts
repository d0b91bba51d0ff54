import { type PricedCall, quotedPrice } from "../prices/answered-price.js";
import { noPrice } from "../prices/no-price.js";
import type { Price, PriceBook } from "../prices/price.js";
import type { PriceRemedies } from "../prices/price-remedies.js";
import type { Site } from "../reservations/site.js";
import { MOST_OPEN_USES } from "../wire/hosted-tools.js";
import type { WireRequest } from "../wire/protocol.js";
import { UnboundedError } from "../wire/unbounded-error.js";
import type { MeteredRequest } from "./meter.js";
import { type Quote, quoteOf, type Terms } from "./quote.js";
import { type RefusalReport, unbounded } from "./refusal.js";
import { unboundedInput, unknownPrice } from "./unmade.js";

/** A request with its price, and the most that it may use. */
export interface PricedRequest {
  readonly terms: Terms;
  readonly quote: Quote;
}

/** What a request is quoted with beside its price. */
export interface QuoteBasis {
  /** The most one answer may have. */
  readonly wanted: number;
  /** The place that the request comes from; null where nothing is learned. */
  readonly site: Site | null;
  /** Whether the whole quote is held, whatever is known of the site. */
  readonly full: boolean;
  /** How a price that is missing is stated where the request comes from; as options unless it is said. */
  readonly remedies?: PriceRemedies;
  /** Whether no budget on the path limits money, so that a model without a price may be asked. */
  readonly unpriced?: boolean;
  /** How often tools may be used that the provider runs, where the request leaves it open. */
  readonly uses?: number;
}

/**
 * Prices a request by its bytes, or says why it is not made. Every door uses this function: the wire, the gateway, the adapters,
 * the chat model of runs, and batches.
 */
export function priceRequest(
  book: PriceBook,
  { wire: read, url, egress_bytes }: Pick<MeteredRequest, "wire" | "url" | "egress_bytes">,
  { wanted, site, full, remedies, unpriced = false, uses = MOST_OPEN_USES }: QuoteBasis,
): PricedRequest | RefusalReport {
  const wire = cappedAt(read, uses);
  const known = book.find(wire.model, { url, protocol: wire.protocol });
  if (known === null && !unpriced) return unknownPrice(book, wire, remedies);
  const price = known ?? noPrice(wire.model);
  const input = bytesBound(wire, price);
  if (input === null) return unboundedInput(wire);
  const call: PricedCall = { book, price, model: wire.model, url, protocol: wire.protocol };
  const terms: Terms = { ...call, quoted: quotedPrice(call), wire, wanted, egress_bytes, input, site, full };
  return quoted(terms);
}

/** The quote of a request whose terms are known. A batch prices the same terms lower. */
export function quoted(terms: Terms): PricedRequest | RefusalReport {
  try {
    return { terms, quote: quoteOf(terms) };
  } catch (error) {
    if (error instanceof UnboundedError) return unbounded(error.message);
    throw error;
  }
}

/** No fewer tokens than the request has bytes; null when something beyond it is read, and nobody can tell how much. */
function bytesBound({ beyond, input_tokens, hosted }: WireRequest, { context_window: window }: Price): number | null {
  if (beyond === null) return input_tokens;
  // What is in the request counts with its bytes even where the window is said to be smaller: that may be a mistake.
  if (window === null) return null;
  // After each use of a hosted tool the model reads everything again, and each round is paid for.
  const rounds = 1 + (hosted?.uses ?? 0);
  return Math.max(input_tokens, window) * rounds;
}

/** The request with its hosted tools held to so many uses, where it leaves that open. */
function cappedAt(wire: WireRequest, uses: number): WireRequest {
  const { hosted, source, deployment } = wire;
  if (hosted === undefined || hosted.uses !== null) return wire;
  return {
    ...hosted.capped(uses),
    ...(source !== undefined && { source }),
    ...(deployment !== undefined && { deployment }),
  };
}
