import type { GatewayOptions } from "bursar/gateway";
import { UsageError } from "../args.js";
import { type Given, listOf, textOf } from "../runs/flags.js";

type Rates = NonNullable<GatewayOptions["assume"]>;

/** What models cost, where the table of prices does not say or should not. */
export function readPrices(flags: Given): Pick<GatewayOptions, "prices" | "assume"> {
  const prices: Record<string, Rates> = {};
  for (const text of listOf(flags, "price")) {
    const [, model, rates] = /^([^=]{1,200})=(.*)$/s.exec(text) ?? [];
    if (model === undefined || rates === undefined) {
      throw new UsageError("--price names no model; write --price llama3.2=0,0");
    }
    if (Object.hasOwn(prices, model)) throw new UsageError(`--price says ${model} a second time; keep one`);
    prices[model] = ratesIn(rates, "--price");
  }
  const assume = textOf(flags, "assume");
  return {
    ...(Object.keys(prices).length > 0 && { prices }),
    ...(assume !== undefined && { assume: ratesIn(assume, "--assume") }),
  };
}

function ratesIn(text: string, flag: string): Rates {
  const [, input, output] = /^\s*(\d{1,6}(?:\.\d{1,6})?)\s*,\s*(\d{1,6}(?:\.\d{1,6})?)\s*$/.exec(text) ?? [];
  if (input === undefined || output === undefined) {
    throw new UsageError(`${flag} has no price; allowed: USD for a million tokens, in and out, as 0.15,0.60`);
  }
  return { input_usd_per_mtok: Number(input), output_usd_per_mtok: Number(output) };
}
