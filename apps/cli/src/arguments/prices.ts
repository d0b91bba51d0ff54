import type { GatewayOptions } from "bursar/gateway";
import type { ModelPrices } from "bursar/models";
import { UsageError } from "../app/errors.js";
import { type Given, listOf, textOf } from "./run-flags.js";

type Rates = NonNullable<GatewayOptions["assume"]>;

/** What a gateway is told of prices, where the table of prices does not say or should not. One that names no model is none of its. */
export function gatewayPrices(flags: Given): Pick<GatewayOptions, "prices" | "assume"> {
  const prices = readPrices(listOf(flags, "price"), null);
  const assume = textOf(flags, "assume");
  return {
    ...(Object.keys(prices).length > 0 && { prices }),
    ...(assume !== undefined && { assume: ratesIn(assume, "--assume") }),
  };
}

/** Prices as flags state them, each for the model that it names, as `llama3.2=0,0`; one that names none is for this one. */
export function readPrices(texts: readonly string[], model: string | null): ModelPrices {
  const prices = new Map<string, Rates>();
  for (const text of texts) {
    const [, named, rates] = /^([^=]{1,200})=(.*)$/s.exec(text) ?? [null, model, text];
    if (named === null || named === undefined || rates === undefined) continue;
    if (prices.has(named)) throw new UsageError(`--price says ${named} a second time; keep one`);
    prices.set(named, ratesIn(rates, "--price"));
  }
  return Object.fromEntries(prices);
}

function ratesIn(text: string, flag: string): Rates {
  const [, input, output] = /^\s*(\d{1,6}(?:\.\d{1,6})?)\s*,\s*(\d{1,6}(?:\.\d{1,6})?)\s*$/.exec(text) ?? [];
  if (input === undefined || output === undefined) {
    throw new UsageError(`${flag} has no price; allowed: USD for a million tokens, in and out, as 0.15,0.60`);
  }
  return { input_usd_per_mtok: Number(input), output_usd_per_mtok: Number(output) };
}
