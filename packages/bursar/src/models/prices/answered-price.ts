import type { JsonObject } from "../../core/chain/canonical.js";
import type { AnswerClaims, ServiceTerm } from "../wire/answer-claims.js";
import type { ProtocolName } from "../wire/protocol.js";
import { dearerAnswers } from "./dearer-answers.js";
import { dearestPrice, raisedQuote } from "./dearest-price.js";
import type { Price, PriceBook } from "./price.js";
import { scaledPrice } from "./scaled-price.js";

/** What a call was priced by. */
export interface PricedCall {
  readonly book: PriceBook;
  readonly price: Price;
  readonly model: string;
  readonly url: string | null;
  readonly protocol: ProtocolName;
}

/** What an answer's claims make of a price. */
export interface AnsweredPrice {
  /** The dearest that follows from them: the price itself where they make nothing dearer. */
  readonly price: Price;
  /** What of them has no price here; null where all has. */
  readonly unpriced: JsonObject | null;
}

/** Terms at the price of the table, or below it. What is below it is charged as usual: an answer never makes a call cheaper. */
const USUAL: Readonly<Record<ServiceTerm["name"], ReadonlySet<string>>> = {
  service_tier: new Set(["auto", "default", "standard", "standard_only", "on_demand", "flex", "batch", "scale"]),
  speed: new Set(["standard"]),
  inference_geo: new Set(["global", "not_available"]),
};

/** Anthropic's fast mode and its inference within the United States, as parts of the usual price. */
const FAST = 6;
const WITHIN_US = 1.1;
/** OpenAI's priority processing costs up to twice as much, and two and a half times as much since GPT-5.5. */
const PRIORITY = 2;
const NEWER_PRIORITY = 2.5;
const NEWER = /gpt-(?:5\.[5-9]|[6-9])/i;

/** Revisions of a model, which are priced as the model is where its price was stated: `-2024-07-18`, `-20250929`, `-0125`, `:latest`. */
const REVISION = /^(?:[-@](?:\d{4}-\d{2}-\d{2}|\d{8}|\d{4}|latest)|:latest)$/i;

/** The price of a call by what its answer says of itself. */
export function answeredPrice(call: PricedCall, { models, served, unreadable_cost }: AnswerClaims): AnsweredPrice {
  const { price } = call;
  const unpriced: Record<string, string> = {};
  const named: Price[] = [price];
  for (const model of models) {
    const found = priceNamed(call, model);
    if (found === null) unpriced.model ??= model;
    else if (found !== price) named.push(found);
  }
  let factor = 1;
  for (const term of served) {
    const each = factorOf(term, call, models);
    if (each === null) unpriced[term.name] ??= term.value;
    else factor = Math.max(factor, each);
  }
  if (unreadable_cost !== null) unpriced.cost = unreadable_cost;
  const others = named.slice(1);
  const scaled = factor === 1 ? others : named.map((each) => scaledPrice(each, factor));
  return {
    price: dearestPrice(price, scaled),
    unpriced: Object.keys(unpriced).length === 0 ? null : unpriced,
  };
}

/** What a call is quoted at: its price, or a dearer one where answers for the same model at the same host have cost more. */
export function quotedPrice(call: PricedCall): Price {
  const dearer = dearerAnswers.find(call);
  return dearer === null ? call.price : raisedQuote(answeredPrice(call, dearer.claims).price, dearer.extra);
}

/** What a model costs that an answer names; null where nobody knows. */
function priceNamed({ book, price, model, url, protocol }: PricedCall, named: string): Price | null {
  if (named === model) return price;
  const found = book.find(named, { url, protocol });
  if (found?.source === "stated") return found;
  if (price.source === "stated") {
    if (isRevision(named, model)) return price;
    // Who runs a model himself states that it costs nothing; what others take for a model of that name says nothing about it.
    if (isFree(price)) return null;
  }
  // What is assumed of models that nobody knows is for those that are asked; a name alone is no proof of a dearer one.
  return found?.source === "table" ? found : null;
}

function isRevision(named: string, model: string): boolean {
  const bare = (name: string) => name.slice(name.lastIndexOf("/") + 1).toLowerCase();
  const [long, short] = [bare(named), bare(model)];
  return long.startsWith(short) && (long === short || REVISION.test(long.slice(short.length)));
}

function isFree(price: Price): boolean {
  return price.cost({ input: 1_000_000, output: 1_000_000 }) === 0n;
}

/** How many times the usual price a term costs; null for one that nobody here knows. */
function factorOf(
  { name, value: said }: ServiceTerm,
  { protocol, model }: PricedCall,
  models: readonly string[],
): number | null {
  // Servers between here and the provider write it in their own way.
  const value = said.toLowerCase();
  if (USUAL[name].has(value)) return 1;
  if (name === "speed") return value === "fast" ? FAST : null;
  if (name === "inference_geo") return value === "us" ? WITHIN_US : null;
  if (value !== "priority") return null;
  // Anthropic's is capacity that was bought before, at the usual price.
  if (protocol === "anthropic-messages") return 1;
  return [model, ...models].some((each) => NEWER.test(each)) ? NEWER_PRIORITY : PRIORITY;
}
