import { type Amount, type Amounts, MAX_AMOUNT } from "../../core/amount.js";
import type { JsonObject } from "../../core/chain/canonical.js";
import type { AnswerNote } from "../../ports/model.js";
import { answeredPrice, type PricedCall } from "../prices/answered-price.js";
import { dearerAnswers } from "../prices/dearer-answers.js";
import { extraOf } from "../prices/extra.js";
import { isPriced } from "../prices/no-price.js";
import type { Price } from "../prices/price.js";
import { type AnswerClaims, NO_CLAIMS } from "../wire/answer-claims.js";
import type { TokenCounts } from "../wire/token-counts.js";
import { leastOfCall, type Terms, type Used, usdOf, usedOf } from "./quote.js";

/** What an answer is charged, and what the chain is told of it beside the charge. */
export interface AnswerCharge {
  readonly used: Used;
  readonly notes: readonly AnswerNote[];
}

const NONE: readonly AnswerNote[] = [];
/** Stated costs may be rounded to so many billionths of a dollar, from eight decimals to six: what is further off is no rounding. */
const LEAST_UNIT = 10;
const LARGEST_UNIT = 1000;

/**
 * What an answer is charged: its usage at the price that it was asked at, or what follows from the model, the tier and the cost that it
 * states, if that is more. Every door settles its answers here. `scaled` is what becomes of a price where calls cost a part of it.
 */
export function chargeAnswer(
  call: PricedCall | Terms,
  counts: TokenCounts,
  claims: AnswerClaims,
  scaled: (price: Price) => Price = (price) => price,
): AnswerCharge {
  const used = usedOf(counts, scaled(call.price));
  const { cost_usd: priced } = used;
  if (claims === NO_CLAIMS) return { used, notes: NONE };
  // Where money does not count, a cost that is stated is known all the same.
  if (priced === undefined) return { used: withStated(used, claims), notes: NONE };
  const { price, unpriced } = answeredPrice(call, claims);
  const answered = price === call.price ? priced : (usedOf(counts, scaled(price)).cost_usd ?? priced);
  const { cost_usd, notes } = dearest(call, { priced, answered }, claims, leastAt(call, price));
  const charged = cost_usd === priced ? used : { ...used, cost_usd };
  return { used: charged, notes: withUnpriced(call, notes, unpriced) };
}

/** What an answer without usage costs at most, where its claims make that more than what is held for it; null where they do not. */
export function chargeUnreported(
  call: Terms,
  granted: Amounts,
  claims: AnswerClaims,
  most: (price: Price) => Amount,
): { readonly cost_usd: Amount | null; readonly notes: readonly AnswerNote[] } {
  if (claims === NO_CLAIMS || !isPriced(call.price)) return { cost_usd: null, notes: NONE };
  const { price, unpriced } = answeredPrice(call, claims);
  const priced = granted.cost_usd ?? (0 as Amount);
  const { cost_usd, notes } = dearest(
    call,
    { priced, answered: price === call.price ? priced : most(price) },
    claims,
    leastAt(call, price),
  );
  return { cost_usd: cost_usd > priced ? cost_usd : null, notes: withUnpriced(call, notes, unpriced) };
}

/** The least that such a call is quoted at; 0 where only its answer is known, as of a batch. */
function leastAt(call: PricedCall | Terms, price: Price): () => number {
  return () => ("wire" in call ? leastOfCall(call, price) : 0);
}

/** The dearest of what was priced, what the answer's model and tier cost, and what it states. That it was dearer is remembered. */
function dearest(
  call: PricedCall,
  { priced, answered }: { readonly priced: Amount; readonly answered: Amount },
  claims: AnswerClaims,
  least: () => number,
): { readonly cost_usd: Amount; readonly notes: readonly AnswerNote[] } {
  const stated = Math.min(claims.cost_nano ?? 0, MAX_AMOUNT);
  const most = Math.max(priced, answered);
  const cost_usd = Math.max(most, stated) as Amount;
  if (cost_usd === priced || (most === priced && isRounding(stated, priced))) return { cost_usd, notes: NONE };
  dearerAnswers.note(call, claims, extraOf(BigInt(Math.max(0, stated - most)), BigInt(least())));
  const data = { priced_usd: usdOf(priced), charged_usd: usdOf(cost_usd), answered: saidIn(claims) };
  return { cost_usd, notes: [{ action_type: "AnswerDearer", data }] };
}

/**
 * Whether a stated cost is higher only because it was rounded, to its last digit. It is charged, but nobody wants to read of that in the chain
 * with every call.
 */
function isRounding(stated: number, priced: number): boolean {
  let unit = LEAST_UNIT;
  while (unit < LARGEST_UNIT && stated % (10 * unit) === 0) unit *= 10;
  return stated - priced < unit;
}

function withStated(used: Used, { cost_nano }: AnswerClaims): Used {
  return cost_nano === null ? used : { ...used, cost_usd: Math.min(cost_nano, MAX_AMOUNT) as Amount };
}

/** The claims as the chain writes them. */
function saidIn({ models, served, cost_nano }: AnswerClaims): JsonObject {
  const said: Record<string, JsonObject[string]> = {};
  if (models.length > 0) said.model = models.length === 1 ? (models[0] as string) : models;
  for (const { name, value } of served) {
    const before = said[name];
    said[name] = typeof before === "string" ? `${before}, ${value}` : value;
  }
  if (cost_nano !== null) said.cost_usd = usdOf(Math.min(cost_nano, MAX_AMOUNT));
  return said;
}

function withUnpriced(
  { model }: PricedCall,
  notes: readonly AnswerNote[],
  unpriced: JsonObject | null,
): readonly AnswerNote[] {
  if (unpriced === null) return notes;
  return [...notes, { action_type: "AnswerUnpriced", data: { model, answered: unpriced } }];
}
