import { chatModel } from "bursar/models";
import type { Seen } from "./scene.js";
import { QUESTION } from "./starting.js";

/** As in `children/worker.mjs`. */
const PRICES = { scripted: { input_usd_per_mtok: 1000, output_usd_per_mtok: 2000 } };
const model = chatModel({ url: "http://127.0.0.1/v1", model: "scripted", prices: PRICES });

/** What a call of the model is charged when nobody knows what became of it: all that was reserved for it. */
function quoteOf(key: string): Readonly<Record<string, number>> {
  const turn = Number(key.split("/")[1]) / 2;
  return { ...(model.quote({ prompt: `${QUESTION} ${turn}`, max_tokens: 16 }) as object), steps: 1 };
}

/** The usage of an undisturbed run, and on top of it the calls that nobody knows the end of. */
export function usageWith(straight: Seen | undefined, unknown: readonly string[]): Readonly<Record<string, number>> {
  const usage: Record<string, number> = { ...straight?.usage };
  for (const key of unknown) {
    for (const [dimension, amount] of Object.entries(quoteOf(key))) usage[dimension] = (usage[dimension] ?? 0) + amount;
  }
  return rounded(usage);
}

/** Dollars have decimals, and are added up in different orders. */
export function rounded(usage: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(usage).map(([dimension, amount]) => [dimension, Number(amount.toFixed(9))]));
}
