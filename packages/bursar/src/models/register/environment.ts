import { readFileSync } from "node:fs";
import { InputError } from "../../core/errors.js";
import type { BudgetPolicies } from "../../core/input.js";
import type { AllowedMembers } from "../meter/allowed-members.js";
import type { PricesOptions } from "../prices/open-prices.js";
import type { ModelPrice, ModelPrices } from "../prices/stated-price.js";
import type { ModelDeployments } from "../wire/deployments.js";

export type Environment = Readonly<Record<string, string | undefined>>;

/** What the surroundings say, empty where they say nothing. */
export function saidIn(env: Environment, name: string): string | null {
  const value = env[name]?.trim();
  return value === undefined || value === "" ? null : value;
}

/** `BURSAR_POLICIES`: `cost_usd=approval_required,steps=soft_warn`, or the same as JSON. */
export function policiesIn(env: Environment): BudgetPolicies {
  const text = saidIn(env, "BURSAR_POLICIES");
  if (text === null) return {};
  if (text.startsWith("{")) return objectIn("BURSAR_POLICIES", text) as BudgetPolicies;
  const pairs = text.split(",").map((part) => {
    const [name = "", policy = "", more] = part.split("=").map((each) => each.trim());
    if (name === "" || policy === "" || more !== undefined) {
      throw new InputError(
        "BURSAR_POLICIES",
        `has ${JSON.stringify(part)}; allowed: dimension=policy, such as steps=soft_warn`,
      );
    }
    return [name, policy] as const;
  });
  return Object.fromEntries(pairs) as BudgetPolicies;
}

/** `BURSAR_PRICES`: prices by the name of the model, as JSON or in a file; those of `*` are assumed of all that nobody knows. */
export function pricesIn(env: Environment): PricesOptions {
  const text = saidIn(env, "BURSAR_PRICES");
  if (text === null) return {};
  const json = text.startsWith("{") ? text : contentsOf(text);
  const { "*": assume, ...prices } = objectIn("BURSAR_PRICES", json) as ModelPrices & { readonly "*"?: ModelPrice };
  return { prices, ...(assume !== undefined && { assume }) };
}

/** `BURSAR_DEPLOYMENTS`: which model each deployment runs, as `chat-prod=gpt-4o-mini,embed=text-embedding-3-small`, or as JSON. */
export function deploymentsIn(env: Environment): ModelDeployments {
  const text = saidIn(env, "BURSAR_DEPLOYMENTS");
  if (text === null) return {};
  if (text.startsWith("{")) return objectIn("BURSAR_DEPLOYMENTS", text) as ModelDeployments;
  const pairs = text.split(",").map((part) => {
    const [, name = "", model = ""] = /^([^=]*)=(.*)$/s.exec(part.trim()) ?? [];
    if (name.trim() !== "" && model.trim() !== "") return [name.trim(), model.trim()] as const;
    throw new InputError(
      "BURSAR_DEPLOYMENTS",
      `has ${JSON.stringify(part)}; allowed: deployment=model, such as chat-prod=gpt-4o-mini`,
    );
  });
  return Object.fromEntries(pairs);
}

/** `BURSAR_ALLOW`: `openrouter.ai=provider,models;localhost:4000=fallbacks`, or the same as JSON with lists. */
export function allowedIn(env: Environment): AllowedMembers {
  const text = saidIn(env, "BURSAR_ALLOW");
  if (text === null) return {};
  if (text.startsWith("{")) return objectIn("BURSAR_ALLOW", text) as AllowedMembers;
  const hosts = text.split(";").map((part) => {
    const [host = "", names = "", more] = part.split("=").map((each) => each.trim());
    if (host === "" || names === "" || more !== undefined) {
      throw new InputError("BURSAR_ALLOW", `has ${JSON.stringify(part)}; allowed: host=name,name`);
    }
    return [host, names.split(",").map((name) => name.trim())] as const;
  });
  return Object.fromEntries(hosts);
}

function contentsOf(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new InputError(
      "BURSAR_PRICES",
      `names the file ${path}, which cannot be read (${code}); allowed: a file, or JSON`,
    );
  }
}

function objectIn(name: string, text: string): object {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new InputError(name, `is no JSON: ${(error as Error).message}`);
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  throw new InputError(name, "is no JSON object");
}
