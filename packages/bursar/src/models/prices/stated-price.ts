import { usd } from "../../core/decimal.js";
import { InputError, show } from "../../core/errors.js";
import { checkKeys } from "../../core/fields.js";
import { type Band, dearest, type Rates } from "./rates.js";
import type { Period } from "./schedule.js";

/** Prices of tokens in US dollars for a million of them. */
export interface StatedRates {
  readonly input_usd_per_mtok: number;
  readonly output_usd_per_mtok: number;
  /** Input that is read from a cache: as dear as other input, unless stated. */
  readonly cache_read_usd_per_mtok?: number;
  /** Input that is written into a cache: twice as dear as other input, unless stated. State it for providers that write without being asked. */
  readonly cache_write_usd_per_mtok?: number;
  /** Input that is kept in a cache for an hour: twice as dear as other input, unless stated. */
  readonly cache_write_1h_usd_per_mtok?: number;
  /** Requests with audio are refused unless both of these are stated. */
  readonly input_audio_usd_per_mtok?: number;
  readonly output_audio_usd_per_mtok?: number;
}

/** Other prices for every token of a call whose input is larger than `above_tokens`. */
export interface StatedTier extends StatedRates {
  readonly above_tokens: number;
}

/**
 * What a model costs, as providers state it. A model that costs nothing is stated with zeros.
 *
 * @example
 * ```ts
 * const price: ModelPrice = {
 *   input_usd_per_mtok: 3,
 *   output_usd_per_mtok: 15,
 *   cache_read_usd_per_mtok: 0.3,
 *   tiers: [{ above_tokens: 200_000, input_usd_per_mtok: 6, output_usd_per_mtok: 22.5, cache_read_usd_per_mtok: 0.6 }],
 * };
 * ```
 */
export interface ModelPrice extends StatedRates {
  readonly tiers?: readonly StatedTier[];
  /** The most input the model takes. It bounds requests that refer to something stored. */
  readonly context_window?: number;
}

/** Prices by the name of the model. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

/** A stated price that can be reckoned with. */
export interface ReadPrice {
  readonly period: Period;
  readonly context_window: number | null;
  readonly writes_stated: boolean;
}

const RATES = [
  "input_usd_per_mtok",
  "output_usd_per_mtok",
  "cache_read_usd_per_mtok",
  "cache_write_usd_per_mtok",
  "cache_write_1h_usd_per_mtok",
  "input_audio_usd_per_mtok",
  "output_audio_usd_per_mtok",
] as const;
const MOST_TIERS = 16;

export function readPrices(prices: unknown): ReadonlyMap<string, ReadPrice> {
  if (typeof prices !== "object" || prices === null || Array.isArray(prices)) {
    throw new InputError("prices", `is ${show(prices)}; allowed: an object with a price for each model`);
  }
  return new Map(
    Object.entries(prices).map(([model, price]: [string, unknown]) => [model, readPrice(price, `prices.${model}`)]),
  );
}

export function readPrice(price: unknown, field: string): ReadPrice {
  checkKeys(price, field, [...RATES, "tiers", "context_window"]);
  const stated = price as ModelPrice;
  const { context_window = null } = stated;
  if (context_window !== null) checkTokens(context_window, `${field}.context_window`);
  const base: Band = { above: -1, rates: readRates(stated, field) };
  return {
    period: { when: { kind: "always" }, bands: [base, ...readTiers(stated, field)], per_call: 0n },
    context_window,
    writes_stated: stated.cache_write_usd_per_mtok !== undefined,
  };
}

/** How to say what a model costs, for whoever has not. */
export function howToPrice(model: string): string {
  const price = "{ input_usd_per_mtok: …, output_usd_per_mtok: … }";
  return `state it: prices: { ${JSON.stringify(model)}: ${price} }, in US dollars for a million tokens, or zeros if it costs nothing`;
}

function readTiers(base: ModelPrice, field: string): readonly Band[] {
  const { tiers = [] } = base;
  if (!Array.isArray(tiers) || tiers.length > MOST_TIERS) {
    throw new InputError(`${field}.tiers`, `is ${show(tiers)}; allowed: a list of at most ${MOST_TIERS} tiers`);
  }
  let last = -1;
  return (tiers as readonly StatedTier[]).map((tier, index) => {
    const here = `${field}.tiers[${index}]`;
    checkKeys(tier, here, [...RATES, "above_tokens"]);
    checkTokens(tier.above_tokens, `${here}.above_tokens`);
    if (tier.above_tokens <= last) {
      throw new InputError(
        `${here}.above_tokens`,
        `is ${tier.above_tokens}; allowed: more than the tier before, ${last}`,
      );
    }
    last = tier.above_tokens;
    const missing = RATES.find((name) => (base[name] === undefined) !== (tier[name] === undefined));
    if (missing !== undefined) {
      throw new InputError(
        `${here}.${missing}`,
        "is stated in one place only; allowed: in the price and all its tiers, or nowhere",
      );
    }
    return { above: tier.above_tokens, rates: readRates(tier, here) };
  });
}

function readRates(stated: StatedRates, field: string): Rates {
  const nano = (name: (typeof RATES)[number]): bigint | null =>
    stated[name] === undefined ? null : BigInt(usd(stated[name], "up", `${field}.${name}`));
  const input = BigInt(usd(stated.input_usd_per_mtok, "up", `${field}.input_usd_per_mtok`));
  const output = BigInt(usd(stated.output_usd_per_mtok, "up", `${field}.output_usd_per_mtok`));
  const cache_write = nano("cache_write_usd_per_mtok") ?? 2n * input;
  const input_audio = nano("input_audio_usd_per_mtok");
  const output_audio = nano("output_audio_usd_per_mtok");
  if ((input_audio === null) !== (output_audio === null)) {
    const missing = input_audio === null ? "input_audio_usd_per_mtok" : "output_audio_usd_per_mtok";
    throw new InputError(`${field}.${missing}`, "is undefined; whoever states one price of audio has to state both");
  }
  return {
    input,
    cache_read: nano("cache_read_usd_per_mtok") ?? input,
    cache_write,
    cache_write_1h: nano("cache_write_1h_usd_per_mtok") ?? dearest([cache_write, 2n * input]),
    input_audio,
    cache_read_audio: input_audio,
    output,
    reasoning: output,
    output_audio,
  };
}

function checkTokens(value: unknown, field: string): void {
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return;
  throw new InputError(field, `is ${show(value)}; allowed: a whole number of tokens from 1`);
}
