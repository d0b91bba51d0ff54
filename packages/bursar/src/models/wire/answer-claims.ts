import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { STANDARD } from "../../core/dimensions.js";
import { extractUsage } from "../../runtime/reported-usage.js";
import { listOf, objectOf } from "./json-object.js";
import { isSaid } from "./request-fields.js";

/** What an answer says of its own price, beside the tokens that it used. */
export interface AnswerClaims {
  /** The models that it names: one, unless a stream names several. */
  readonly models: readonly string[];
  /** How it was served, where that may have a price of its own. */
  readonly served: readonly ServiceTerm[];
  /** What it has cost, in billionths of a dollar; null where it does not say. */
  readonly cost_nano: number | null;
  /** A cost that is none, such as a negative one, as it came; null where there is none. */
  readonly unreadable_cost: string | null;
}

/** One thing that an answer says of how it was served, such as `service_tier: "priority"`. */
export interface ServiceTerm {
  readonly name: "service_tier" | "speed" | "inference_geo";
  readonly value: string;
}

export const NO_CLAIMS: AnswerClaims = { models: [], served: [], cost_nano: null, unreadable_cost: null };

/** The members of an answer in which claims stand. */
export const CLAIMING_MEMBERS: readonly string[] = [
  "model",
  "service_tier",
  "usage",
  "provider_metadata",
  "providerMetadata",
  "cost",
  "cost_usd",
  "total_cost",
  "total_cost_usd",
];

/** A word that stands in answers of gateways which state the cost inside of a message. */
export const CLAIMING_WORD = '"gateway"';

/** Headers in which proxies state what an answer has cost, in US dollars. */
const COST_HEADERS = ["x-litellm-response-cost"] as const;

const COSTS = ["cost", "cost_usd", "total_cost", "total_cost_usd", "estimated_cost"] as const;
/** xAI counts in these: 10,000,000,000 of them are a dollar. */
const TICKS_PER_USD = 1e10;
/** Sums of binary fractions, such as 0.00012345000000000001, are no dearer than what they stand for. */
const EXACT_DIGITS = 12;
const LONGEST_NAME = 256;
/** Shorter keys are placeholders, such as `none`, which may stand in any name. */
const LEAST_KEY = 7;
/** Of a stream that names more than so many, the first is kept and the latest: what has answered in the end is among them. */
const MOST_NAMES = 4;

/** What looks like a key, in whatever a provider writes. */
const KEY = /\b(?:sk|pk|xai|gsk|pplx|key|api)[-_][\w-]{16,}/g;

/** What a whole answer claims, or the event of a stream. */
export function claimsIn(answer: JsonObject): AnswerClaims {
  const { model, service_tier, choices } = answer;
  const usage = objectOf(answer.usage);
  const served: ServiceTerm[] = [];
  addTerm(served, "service_tier", service_tier);
  addTerm(served, "service_tier", usage.service_tier);
  addTerm(served, "speed", usage.speed);
  addTerm(served, "inference_geo", usage.inference_geo);
  const cost = new StatedCost();
  for (const name of COSTS) if (name !== "estimated_cost") cost.add(answer[name]);
  addUsageCosts(cost, usage);
  addGatewayCosts(cost, answer);
  for (const choice of listOf(choices)) {
    const { message, delta } = objectOf(choice);
    addGatewayCosts(cost, objectOf(message));
    addGatewayCosts(cost, objectOf(delta));
  }
  const models = typeof model === "string" && model !== "" ? [readable(model)] : [];
  if (models.length + served.length === 0 && cost.nano === null && cost.unreadable === null) return NO_CLAIMS;
  return { models, served, cost_nano: cost.nano, unreadable_cost: cost.unreadable };
}

/** A claim that stands outside of the answer itself, such as in a header or in what an SDK keeps beside it. */
export function statedCost(value: unknown): AnswerClaims {
  const cost = new StatedCost();
  cost.add(value as Json | undefined);
  if (cost.nano === null && cost.unreadable === null) return NO_CLAIMS;
  return { ...NO_CLAIMS, cost_nano: cost.nano, unreadable_cost: cost.unreadable };
}

/** What headers state; they are given by a lookup, because there are several kinds of headers. */
export function claimsInHeaders(header: (name: string) => unknown): AnswerClaims {
  return COST_HEADERS.reduce((claims, name) => joinedClaims(claims, statedCost(header(name))), NO_CLAIMS);
}

/** Both together. A later claim does not take an earlier one back. */
export function joinedClaims(first: AnswerClaims, second: AnswerClaims): AnswerClaims {
  if (second === NO_CLAIMS) return first;
  if (first === NO_CLAIMS) return second;
  const named = [...new Set([...first.models, ...second.models])];
  const models = named.length <= MOST_NAMES ? named : [...named.slice(0, 1), ...named.slice(1 - MOST_NAMES)];
  const isNew = ({ name, value }: ServiceTerm) =>
    !first.served.some((each) => each.name === name && each.value === value);
  const costs = [first.cost_nano, second.cost_nano].filter((cost) => cost !== null);
  return {
    models,
    served: [...first.served, ...second.served.filter(isNew)].slice(0, 2 * MOST_NAMES),
    cost_nano: costs.length === 0 ? null : Math.max(...costs),
    unreadable_cost: first.unreadable_cost ?? second.unreadable_cost,
  };
}

/** The claims of one of several who share an answer: of a cost that it states, each pays a part. */
export function sharedClaims(claims: AnswerClaims, part: number): AnswerClaims {
  const { cost_nano } = claims;
  return cost_nano === null ? claims : { ...claims, cost_nano: Math.ceil(cost_nano * part) };
}

/** The claims without a key that a provider has written into them: what they say goes into the chain. */
export function withoutSecret(claims: AnswerClaims, secret: string | null): AnswerClaims {
  if (claims === NO_CLAIMS || secret === null || secret.length < LEAST_KEY) return claims;
  const { models, served, unreadable_cost } = claims;
  const bare = (text: string) => text.replaceAll(secret, "[key]");
  return {
    ...claims,
    models: models.map(bare),
    served: served.map(({ name, value }) => ({ name, value: bare(value) })),
    unreadable_cost: unreadable_cost === null ? null : bare(unreadable_cost),
  };
}

/** A name as it can be written down: short, and without what no text should hold. */
function readable(text: string): string {
  return text
    .slice(0, LONGEST_NAME)
    .replace(/[\p{Cs}\p{Cc}]/gu, "\ufffd")
    .replace(KEY, "[key]");
}

function addTerm(served: ServiceTerm[], name: ServiceTerm["name"], value: Json | undefined): void {
  if (typeof value !== "string" || value === "") return;
  if (served.some((each) => each.name === name && each.value === value)) return;
  served.push({ name, value: readable(value) });
}

/** The dearest of the costs that an answer states. */
class StatedCost {
  nano: number | null = null;
  unreadable: string | null = null;

  add(value: Json | undefined): void {
    if (!isSaid(value) || typeof value === "object" || typeof value === "boolean") return;
    const nano = nanoOf(value);
    if (nano === null) this.unreadable ??= readable(String(value));
    else this.nano = Math.max(this.nano ?? 0, nano);
  }
}

/** Billionths of a dollar, rounded up; null for what is no cost, or more than can be counted. */
function nanoOf(value: number | string): number | null {
  const figure = typeof value === "number" && Number.isFinite(value) ? exactly(value) : value;
  const read = extractUsage({ cost_usd: figure }, STANDARD).amounts.cost_usd ?? null;
  if (read === null || typeof figure === "number") return read;
  return extractUsage({ cost_usd: exactly(Number(figure)) }, STANDARD).amounts.cost_usd ?? null;
}

function exactly(value: number): number {
  return Number(value.toPrecision(EXACT_DIGITS));
}

function addUsageCosts(cost: StatedCost, usage: JsonObject): void {
  for (const name of COSTS) cost.add(usage[name]);
  // Perplexity states the parts, and their sum.
  cost.add(objectOf(usage.cost).total_cost);
  const { cost_in_usd_ticks: ticks, cost_details, is_byok } = usage;
  if (isSaid(ticks)) cost.add(typeof ticks === "object" || typeof ticks === "boolean" ? null : dollarsOf(ticks));
  const { upstream_inference_cost: upstream } = objectOf(cost_details);
  cost.add(upstream);
  // With a key of the caller's own, OpenRouter's cost is its fee alone, and what the provider charges comes on top.
  if (is_byok === true && typeof upstream === "number" && typeof usage.cost === "number") {
    cost.add(upstream + usage.cost);
  }
}

function dollarsOf(ticks: number | string): number {
  return typeof ticks === "string" && ticks.trim() === "" ? Number.NaN : Number(ticks) / TICKS_PER_USD;
}

/** Vercel's gateway states the cost in what it says of the provider. */
function addGatewayCosts(cost: StatedCost, { provider_metadata, providerMetadata }: JsonObject): void {
  for (const metadata of [provider_metadata, providerMetadata]) cost.add(objectOf(objectOf(metadata).gateway).cost);
}
