import { dirname, resolve } from "node:path";
import type { Batches, BursarOptions } from "bursar";
import type { Configuration, ReuseSection } from "bursar/config";
import type { GatewayOptions } from "bursar/gateway";
import {
  allowedNames,
  modelPredictor,
  openBatches,
  openPrices,
  openReuse,
  type Reuse,
  type ReuseOptions,
} from "bursar/models";
import type { Environment } from "../environment.js";
import { CommandError } from "../errors.js";
import type { Place } from "../store/opened-store.js";
import type { Equipment } from "./equipment.js";

/** Where batches go unless an address is said. */
const HOMES = { openai: "https://api.openai.com", anthropic: "https://api.anthropic.com" } as const;

/** What a command says about estimates, beside the configuration. */
export interface EstimateChoice {
  readonly isOff: boolean;
  readonly asksModel: boolean;
}

/** Whether, and how, what runs will take is estimated. */
export function foresightOf(
  { config, store }: Place,
  { model }: Pick<Equipment, "model">,
  { isOff, asksModel }: EstimateChoice = { isOff: false, asksModel: true },
): NonNullable<BursarOptions["foresight"]> {
  const { enabled, preflight, predict, reservations } = config.foresight;
  if (!enabled || isOff) return false;
  if (predict === null || model === null || !asksModel) return { preflight, reservations };
  const { model: name, cost_usd } = predict;
  const budget = { limits: { cost_usd, steps: 20 } };
  const predictor = modelPredictor({ model, store, budget, request: { model: name } });
  return { preflight, reservations, predictor };
}

/** What takes calls that can wait, if the configuration names a provider for them. */
export async function batchesOf(
  { config, store }: Place,
  { prices, deployments, allow, remedies }: Equipment,
  env: Environment,
): Promise<Batches | null> {
  const { batches } = config.foresight;
  if (batches === null) return null;
  const { key_env, ...section } = batches;
  const apiKey = key_env === undefined ? undefined : env[key_env];
  if (key_env !== undefined && (apiKey === undefined || apiKey === "")) {
    throw new CommandError(`the configuration sends batches, and ${key_env} is not set; put the provider's key there`);
  }
  return openBatches({
    ...section,
    store,
    deployments,
    remedies,
    allow: allowedNames(allow, batches.url ?? HOMES[batches.provider]),
    ...(apiKey !== undefined && { apiKey }),
    // The model that the price is stated for need not be the one that batches go to, which the table may know.
    ...(prices !== null && { prices: await openPrices({ prices }) }),
  });
}

/** What the gateway does ahead, as the configuration says. */
export function gatewayForesight({
  foresight,
  file,
}: Configuration): Pick<GatewayOptions, "tiers" | "reuse" | "reservations"> {
  const { tiers, reuse, reservations } = foresight;
  return {
    reservations,
    ...(tiers !== null && { tiers }),
    ...(reuse !== null && { reuse: placed(reuse, file) }),
  };
}

/** What runs use again of what their model has answered, if the configuration says so; null for nothing. */
export function runReuse({ foresight, file }: Configuration): Reuse | null {
  const { reuse } = foresight;
  return reuse?.runs === true ? openReuse(placed(reuse, file)) : null;
}

/** A relative folder is meant from where the configuration stands, whoever uses it from wherever. */
function placed({ runs: _, ...reuse }: ReuseSection, file: string | null): ReuseOptions {
  const { cache } = reuse;
  if (typeof cache !== "object" || cache.folder === undefined) return reuse;
  return { ...reuse, cache: { ...cache, folder: resolve(dirname(file ?? ""), cache.folder) } };
}
