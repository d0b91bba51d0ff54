import { fromDecimal } from "../core/decimal.js";
import { writeAmount } from "../core/dimension.js";
import { STANDARD } from "../core/dimensions.js";
import { InputError, show } from "../core/errors.js";
import { checkKeys } from "../core/fields.js";
import type { BudgetAmounts } from "../core/input.js";

/** What a model costs, as providers state it. A model that costs nothing is stated with zeros. */
export interface ModelPrice {
  readonly input_usd_per_mtok: number;
  readonly output_usd_per_mtok: number;
}

/** Prices by the name of the model. */
export type ModelPrices = Readonly<Record<string, ModelPrice>>;

const KEYS = ["input_usd_per_mtok", "output_usd_per_mtok"];
const COST = STANDARD.get("cost_usd");
const MILLION = 1_000_000n;

/** A price that can be reckoned with: billionths of a dollar for a million tokens. */
export interface Rate {
  readonly input: bigint;
  readonly output: bigint;
}

export function readPrices(prices: unknown): ReadonlyMap<string, Rate> {
  if (typeof prices !== "object" || prices === null || Array.isArray(prices)) {
    throw new InputError("prices", `is ${show(prices)}; allowed: an object with a price for each model`);
  }
  return new Map(
    Object.entries(prices).map(([model, price]: [string, unknown]) => {
      const field = `prices.${model}`;
      checkKeys(price, field, KEYS);
      const { input_usd_per_mtok, output_usd_per_mtok } = price as ModelPrice;
      const rate = {
        input: nanoUsd(input_usd_per_mtok, `${field}.input_usd_per_mtok`),
        output: nanoUsd(output_usd_per_mtok, `${field}.output_usd_per_mtok`),
      };
      return [model, rate] as const;
    }),
  );
}

/** How to say what a model costs, for whoever has not. */
export function howToPrice(model: string): string {
  const price = "{ input_usd_per_mtok: …, output_usd_per_mtok: … }";
  return `state it: prices: { ${JSON.stringify(model)}: ${price} }, in US dollars for a million tokens, or zeros if it costs nothing`;
}

/** Tokens with what they cost, in edge units. It is rounded up, once. */
export function priced({ input, output }: Rate, inputTokens: number, outputTokens: number): BudgetAmounts {
  const sum = BigInt(inputTokens) * input + BigInt(outputTokens) * output;
  const nano = Number((sum + MILLION - 1n) / MILLION);
  return {
    llm_input_tokens: inputTokens,
    llm_output_tokens: outputTokens,
    llm_tokens: inputTokens + outputTokens,
    cost_usd: writeAmount(COST, nano),
  };
}

function nanoUsd(usd: unknown, field: string): bigint {
  return BigInt(fromDecimal(usd, COST.decimals, "up", field));
}
