import type { ModelPrices } from "bursar/models";
import type { Environment } from "../app/environment.js";
import type { ModelAddress } from "../app/equipment/equipment.js";
import { UsageError } from "../app/errors.js";
import { readPrices } from "./prices.js";
import { countOf, type Given, listOf, textOf } from "./run-flags.js";

const LONGEST_ANSWER = 1_000_000;

/** What else decides whether flags about a model have an effect. */
export interface ModelSurroundings {
  /** The model that the configuration sends batches to, or null: a price may be stated for it alone. */
  readonly batched: string | null;
  /** Whether there is a gateway, which also takes the prices that name a model. */
  readonly hasGateway?: boolean;
}

/** The address of the model that runs may ask, from flags or from the environment; null when there is none. */
export function modelOf(
  flags: Given,
  env: Environment,
  { batched, hasGateway = false }: ModelSurroundings,
): ModelAddress | null {
  const url = urlOf(flags, env);
  const model = nameOf(flags, env);
  const max_tokens = countOf(flags, "max-tokens", LONGEST_ANSWER);
  if (url === undefined) {
    refuseLonely(flags, model, pricedIn(batched), hasGateway);
    return null;
  }
  if (/^[^/]*\/\/[^/]*@/.test(url)) {
    throw new UsageError("--model-url holds a login; put the key into BURSAR_MODEL_KEY, and leave it out here");
  }
  if (model === undefined) throw new UsageError("--model is missing: name the model that requests go to");
  const apiKey = env.BURSAR_MODEL_KEY;
  return {
    url,
    model,
    label: "--model-url",
    ...(max_tokens !== undefined && { max_tokens }),
    ...(apiKey !== undefined && apiKey !== "" && { apiKey }),
  };
}

function urlOf(flags: Given, env: Environment): string | undefined {
  return textOf(flags, "model-url") ?? (env.BURSAR_MODEL_URL || undefined);
}

function nameOf(flags: Given, env: Environment): string | undefined {
  return textOf(flags, "model") ?? (env.BURSAR_MODEL || undefined);
}

/** A list of models has no price of its own. */
function pricedIn(batched: string | null): string | null {
  return batched?.startsWith("bursar/") ? null : batched;
}

/** Without an address, flags about a model say nothing, but for the price of the one that batches go to. */
function refuseLonely(flags: Given, model: string | undefined, batched: string | null, hasGateway: boolean): void {
  const prices = listOf(flags, "price").filter((text) => !hasGateway || !text.includes("="));
  const about = prices.length === 0 ? ["model", "max-tokens"] : ["max-tokens"];
  const lonely = about.find((name) => flags[name] !== undefined);
  if (lonely !== undefined) {
    throw new UsageError(`--${lonely} says nothing without --model-url (or BURSAR_MODEL_URL)`);
  }
  if (prices.length === 0) return;
  if (batched === null) {
    throw new UsageError(
      "--price says nothing without a model; add --model-url and --model, or name one in foresight.batches of the configuration",
    );
  }
  if (model === undefined || model === batched || prices.every((text) => text.includes("="))) return;
  throw new UsageError(
    `--price is that of ${model.slice(0, 80)}, and the configuration names ${batched}; add --model ${batched}, or --model-url`,
  );
}

/** What models cost, where flags or the environment state it; null when the table of prices is to say it. */
export function pricesOf(flags: Given, env: Environment, batched: string | null): ModelPrices | null {
  const only = urlOf(flags, env) === undefined ? pricedIn(batched) : null;
  const stated = listOf(flags, "price");
  const model = nameOf(flags, env) ?? only;
  // That of the environment is the model's own, unless a flag is.
  const isOwn = stated.some((text) => !text.includes("=") || text.startsWith(`${model}=`));
  const own = isOwn || !env.BURSAR_MODEL_PRICE ? [] : [env.BURSAR_MODEL_PRICE];
  const prices = readPrices([...stated, ...own], model);
  return Object.keys(prices).length === 0 ? null : prices;
}

const LISTED: ReadonlySet<string> = new Set(["price", "deployment", "allow"]);

/** The flags that give another process the same model, for the hint that is printed when a run pauses. */
export function modelFlags(flags: Given): readonly string[] {
  return ["model-url", "model", "price", "deployment", "allow", "max-tokens"].flatMap((name) =>
    (LISTED.has(name) ? listOf(flags, name) : [textOf(flags, name)]).flatMap((value) =>
      value === undefined ? [] : [`--${name}`, value],
    ),
  );
}
