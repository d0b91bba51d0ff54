import { InputError, type Model } from "bursar";
import { chatModel } from "bursar/models";
import { UsageError } from "../args.js";
import { countOf, type Given, textOf } from "./flags.js";

const LONGEST_ANSWER = 1_000_000;

/** The model that runs may ask, from flags or from the environment; null when there is none. */
export function modelOf(flags: Given, env: Readonly<Record<string, string | undefined>>): Model | null {
  const url = textOf(flags, "model-url") ?? (env.BURSAR_MODEL_URL || undefined);
  const model = textOf(flags, "model") ?? (env.BURSAR_MODEL || undefined);
  const price = textOf(flags, "price") ?? (env.BURSAR_MODEL_PRICE || undefined);
  const max_tokens = countOf(flags, "max-tokens", LONGEST_ANSWER);
  if (url === undefined) {
    const lonely = ["model", "price", "max-tokens"].find((name) => flags[name] !== undefined);
    if (lonely === undefined) return null;
    throw new UsageError(`--${lonely} says nothing without --model-url (or BURSAR_MODEL_URL)`);
  }
  if (/^[^/]*\/\/[^/]*@/.test(url)) {
    throw new UsageError("--model-url holds a login; put the key into BURSAR_MODEL_KEY, and leave it out here");
  }
  if (model === undefined) throw new UsageError("--model is missing: name the model that requests go to");
  const apiKey = env.BURSAR_MODEL_KEY;
  try {
    return chatModel({
      ...{ url, model },
      // What nobody states is looked up; a model that is not in the table is refused when it is asked.
      ...(price !== undefined && { prices: { [model]: readPrice(price) } }),
      ...(max_tokens !== undefined && { max_tokens }),
      ...(apiKey !== undefined && apiKey !== "" && { apiKey }),
    });
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`--model-url: ${error.message}`) : error;
  }
}

function readPrice(text: string): { readonly input_usd_per_mtok: number; readonly output_usd_per_mtok: number } {
  const [, input, output] = /^\s*(\d{1,6}(?:\.\d{1,6})?)\s*,\s*(\d{1,6}(?:\.\d{1,6})?)\s*$/.exec(text) ?? [];
  if (input === undefined || output === undefined) {
    throw new UsageError("--price is none; allowed: USD for a million tokens, in and out, as 0.15,0.60");
  }
  return { input_usd_per_mtok: Number(input), output_usd_per_mtok: Number(output) };
}

/** The flags that give another process the same model, for the hint that is printed when a run pauses. */
export function modelFlags(flags: Given): readonly string[] {
  return ["model-url", "model", "price", "max-tokens"].flatMap((name) => {
    const value = textOf(flags, name);
    return value === undefined ? [] : [`--${name}`, value];
  });
}
