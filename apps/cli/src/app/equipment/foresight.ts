import { dirname, resolve } from "node:path";
import type { Batches, BursarOptions, PreflightPolicy } from "bursar";
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
import { CommandError, UsageError, unknown } from "../args.js";
import type { Terminal } from "../terminal.js";
import { FLAG_REMEDIES } from "./deployments.js";
import type { Equipment } from "./equipment.js";
import { type Flags, type Given, textOf } from "./flags.js";
import type { Place } from "./place.js";

/** Where batches go unless an address is said. */
const HOMES = { openai: "https://api.openai.com", anthropic: "https://api.anthropic.com" } as const;
const POLICIES = ["refuse", "ask", "warn", "off"] as const;

/** What is said about the estimate that is made before a run begins. */
export const PREFLIGHT: Flags = { preflight: { type: "string" }, "no-predict": { type: "boolean" } };

export const PREFLIGHT_HELP = `  --preflight <what> what becomes of a run whose 95 % does not fit into its
                     limits: warn (the default), ask, refuse; off neither
                     estimates it nor learns from it
  --no-predict       do not ask a model what it will take`;

/** What becomes of a run that is expected not to fit; null when nothing is said, or nothing is to be estimated. */
export function preflightOf(flags: Given): PreflightPolicy | null {
  const text = textOf(flags, "preflight");
  if (text === undefined) return null;
  const policy = POLICIES.find((each) => each === text);
  if (policy === undefined) throw new UsageError(unknown(`--preflight ${text.slice(0, 40)}`, text, POLICIES));
  return policy === "off" ? null : policy;
}

/** Whether, and how, what runs will take is estimated. */
export function foresightOf(
  flags: Given,
  { config, store }: Place,
  { model }: Pick<Equipment, "model">,
): NonNullable<BursarOptions["foresight"]> {
  const { enabled, preflight, predict, reservations } = config.foresight;
  if (!enabled || textOf(flags, "preflight") === "off") return false;
  if (predict === null || model === null || flags["no-predict"] === true) return { preflight, reservations };
  const { model: name, cost_usd } = predict;
  const budget = { limits: { cost_usd, steps: 20 } };
  const predictor = modelPredictor({ model, store, budget, request: { model: name } });
  return { preflight, reservations, predictor };
}

/** What takes calls that can wait, if the configuration names a provider for them. */
export async function batchesOf(
  { config, store }: Place,
  { prices, deployments, allow }: Pick<Equipment, "prices" | "deployments" | "allow">,
  { env }: Pick<Terminal, "env">,
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
    remedies: FLAG_REMEDIES,
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
