import type { Configuration } from "bursar/config";
import { type ModelDeployments, type PriceRemedies, readDeployments } from "bursar/models";
import { UsageError } from "../app/errors.js";
import { type Given, listOf } from "./run-flags.js";

/** Which models deployments run: as the configuration says, and before that as flags do. */
export function deploymentsOf(flags: Given, { deployments }: Pick<Configuration, "deployments">): ModelDeployments {
  const stated = new Map<string, string>();
  for (const text of listOf(flags, "deployment")) {
    const [, name, model] = /^([^=]{1,1000})=(.{1,500})$/s.exec(text) ?? [];
    if (name === undefined || model === undefined) {
      throw new UsageError("--deployment names no model; write --deployment chat-prod=gpt-4o-mini");
    }
    const key = name.toLowerCase();
    if (stated.has(key)) throw new UsageError(`--deployment says ${name} a second time; keep one`);
    stated.set(key, model);
  }
  const configured = Object.entries(deployments).map(([name, model]) => [name.toLowerCase(), model] as const);
  return readDeployments({ ...Object.fromEntries(configured), ...Object.fromEntries(stated) });
}

/** How prices are stated on the command line. */
export const FLAG_REMEDIES: PriceRemedies = {
  price: (model) =>
    `state it with --price ${model}=0.15,0.60, in US dollars for a million tokens in and out, or --price ${model}=0,0 if it costs nothing; without a limit of cost_usd no price is needed`,
  deployment: (name) => `say which model it runs with --deployment ${name}=gpt-4o-mini`,
};
