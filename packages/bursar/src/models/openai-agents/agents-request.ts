import type { Model, ModelProvider } from "@openai/agents";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import type { RefusalReport } from "../meter/refusal.js";
import { hostedElsewhere } from "../meter/unmade.js";
import { needsOf } from "../tiers/needs.js";
import { NO_WISH, readWish, type Wish } from "../tiers/wish.js";
import type { Deployments } from "../wire/deployments.js";
import { isObject, listOf, objectOf } from "../wire/json-object.js";
import { openaiModel } from "../wire/openai-models.js";
import { OPENAI_RESPONSES } from "../wire/openai-responses.js";
import type { WireRequest } from "../wire/protocol.js";
import { isHomeOf } from "../wire/provider-hosts.js";
import { isSaid } from "../wire/request-fields.js";
import { UnboundedError } from "../wire/unbounded-error.js";

/** A model as the SDK calls it, and what it hands over. */
export type AgentsModel = Model;
export type AgentsProvider = ModelProvider;
export type AgentsRequest = Parameters<Model["getResponse"]>[0];
export type AgentsResponse = Awaited<ReturnType<Model["getResponse"]>>;

/** All spellings of a limit of output. In what the SDK passes on unseen they would win over the one that it knows. */
const LIMITS = ["max_output_tokens", "max_completion_tokens", "max_tokens"];

/** Passed on unseen, these make another request of it, or several. */
const OTHER_REQUESTS = ["messages", "n", "modalities", "audio"];

/** Where the SDK looks for fields of the body that it does not know. */
const EXTRA_BODIES = ["extra_body", "extraBody"];

const GOVERNED_WIRE =
  "give the provider a governed wire: governedProvider(…), or an OpenAI client with governedFetch()";

/** What a request is read with. */
export interface AgentsBasis {
  readonly stream: boolean;
  /** Where it goes; null where that does not show. */
  readonly url: string | null;
  readonly deployments: Deployments;
  readonly allow: ReadonlySet<string>;
}

/**
 * Where a model's requests go, which decides what they cost; null where it does not show. Models that speak Responses keep their client
 * where it can be seen, those that speak Chat Completions do not.
 */
export function agentsAddress(model: AgentsModel): string | null {
  const { _client: client } = model as { readonly _client?: { readonly baseURL?: unknown } | null };
  const url = client?.baseURL;
  return typeof url === "string" && URL.canParse(url) ? url : null;
}

/**
 * Reads a request of the SDK's as the request to Responses that it becomes, so that the rules of the wire hold for it: what has no
 * bound or another price is refused, whoever sends it in the end.
 */
export function readAgentsRequest(
  model: string,
  request: AgentsRequest,
  about: AgentsBasis,
): WireRequest | RefusalReport {
  try {
    const wire = wireOf(model, request, about);
    return wire.hosted === undefined ? wire : hostedElsewhere("calls of a governed model", GOVERNED_WIRE);
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof UnboundedError)
      return { code: "unbounded", message, hint: "a call that nobody can bound beforehand is not made" };
    if (error instanceof InputError) return { code: "invalid_request", message, hint: "correct the request" };
    throw error;
  }
}

function wireOf(model: string, request: AgentsRequest, about: AgentsBasis): WireRequest {
  const { stream, url, deployments, allow } = about;
  const { signal: _, ...rest } = request;
  const written = JSON.stringify(rest);
  const plain = JSON.parse(written) as JsonObject;
  const settings = objectOf(plain.modelSettings);
  const further = furtherOf(settings);
  for (const field of OTHER_REQUESTS) {
    if (isSaid(further[field]))
      throw new UnboundedError(`providerData.${field}`, "makes another request of it; leave it out");
  }
  if (isSaid(further.model) && further.model !== model) {
    throw new UnboundedError("providerData.model", `is ${show(further.model)}, not ${show(model)}; name one model`);
  }
  const limits = [settings.maxTokens, ...LIMITS.map((field) => further[field])].filter(isSaid).map(Number);
  const body: JsonObject = {
    instructions: plain.systemInstructions ?? null,
    input: typeof plain.input === "string" ? plain.input : listOf(plain.input).map(itemOf),
    tools: [...listOf(plain.tools).map(toolOf), ...listOf(plain.handoffs).map(() => ({ type: "function" }))],
    conversation: plain.conversationId ?? null,
    previous_response_id: plain.previousResponseId ?? null,
    prompt: plain.prompt ?? null,
    prompt_cache_retention: settings.promptCacheRetention ?? null,
    prompt_cache_options: settings.promptCacheOptions ?? null,
    context_management: settings.contextManagement ?? null,
    reasoning: settings.reasoning ?? null,
    ...Object.fromEntries(Object.entries(further).filter(([field]) => !LIMITS.includes(field))),
    model,
    stream,
    max_output_tokens: limits.length === 0 ? null : Math.min(...limits),
  };
  const run = deployments.modelFor(url, model)?.model ?? model;
  const compatible = url !== null && !isHomeOf("openai", new URL(url).hostname);
  return OPENAI_RESPONSES.read(body, { bytes: Buffer.byteLength(written), compatible, model: run, allow });
}

/** What is passed on unseen, in the order in which the SDK lays it over the body. */
function furtherOf(settings: JsonObject): JsonObject {
  const { providerData } = settings;
  const given = objectOf(providerData);
  const own = Object.fromEntries(Object.entries(given).filter(([field]) => !EXTRA_BODIES.includes(field)));
  return Object.assign(own, ...EXTRA_BODIES.map((field) => objectOf(given[field])));
}

/** The SDK's own names for what Responses has too. What it does not know stays as it is, and has no bound. */
function itemOf(item: Json): Json {
  if (!isObject(item)) return item;
  switch (item.type) {
    case undefined:
    case "message":
      return { ...item, type: "message", content: contentOf(item.content) };
    case "function_call_result":
      return { type: "function_call_output", output: contentOf(item.output) };
    case "computer_call_result":
      return { type: "computer_call_output", output: { image_url: objectOf(item.output).data ?? null } };
    case "reasoning":
      return { ...objectOf(item.providerData), type: "reasoning" };
    default:
      return item;
  }
}

function contentOf(content: Json | undefined): Json {
  if (content === undefined || content === null || typeof content === "string") return content ?? null;
  return (Array.isArray(content) ? (content as readonly Json[]) : [content]).map((part) => partOf(part));
}

function partOf(part: Json): Json {
  if (!isObject(part) || (part.type !== "input_image" && part.type !== "image")) return part;
  // An image by the id of a file, or as bytes, has the same figure as one behind an address.
  const { image, detail = null } = part;
  return { type: "input_image", detail, image_url: typeof image === "string" ? image : null };
}

function toolOf(tool: Json): Json {
  if (!isObject(tool) || tool.type !== "hosted_tool") return tool;
  return { type: tool.name ?? null, ...objectOf(tool.providerData) };
}

/** What a request needs of a model. */
export function needsOfAgents(request: AgentsRequest): ReadonlySet<string> {
  const { tools, handoffs, input, outputType } = request;
  const plain = JSON.parse(JSON.stringify({ tools: [...tools, ...handoffs], input })) as JsonObject;
  return needsOf({ ...plain, text: { format: { type: typeof outputType === "object" ? "json_schema" : "text" } } });
}

/** What a caller says about the tier of a call, which stands among what is passed on and is not. */
export function takeAgentsWish(request: AgentsRequest): { readonly wish: Wish; readonly request: AgentsRequest } {
  const { modelSettings } = request;
  const { bursar, ...providerData } = modelSettings.providerData ?? {};
  if (bursar === undefined) return { wish: NO_WISH, request };
  const wish = readWish(bursar, "modelSettings.providerData.bursar");
  return { wish, request: { ...request, modelSettings: { ...modelSettings, providerData } } };
}

/** What a request is held to. */
export interface AgentsHold {
  readonly output_tokens: number;
  readonly signal: AbortSignal;
  /** The tier that the provider's own server is told; null where it is not told any, or may not know the field. */
  readonly service_tier: Json;
}

/** The same request, held to so many tokens of output, to a tier and to a signal. */
export function heldRequest(
  request: AgentsRequest,
  target: AgentsModel,
  model: string,
  { output_tokens, signal, service_tier }: AgentsHold,
): AgentsRequest {
  const { modelSettings } = request;
  const { maxTokens, providerData } = modelSettings;
  const most = Math.min(maxTokens ?? output_tokens, output_tokens);
  const tier = isSaid(service_tier) ? { service_tier } : {};
  const isSame = providerData === undefined && service_tier === null;
  const further = isSame ? undefined : { ...tier, ...capped(providerData ?? {}, output_tokens, tier) };
  const settings = takesNewLimit(target, model)
    ? { ...withoutMaxTokens(modelSettings), providerData: { max_completion_tokens: most, ...further } }
    : { ...modelSettings, maxTokens: most, ...(further !== undefined && { providerData: further }) };
  return { ...request, modelSettings: settings, signal };
}

function withoutMaxTokens({
  maxTokens: _,
  ...settings
}: AgentsRequest["modelSettings"]): AgentsRequest["modelSettings"] {
  return settings;
}

/** The SDK has one spelling for Chat Completions, and newer models do not take it there. */
function takesNewLimit(target: AgentsModel, model: string): boolean {
  return /ChatCompletions/.test(target.constructor.name) && openaiModel(model).newLimit;
}

function capped(
  fields: Readonly<Record<string, unknown>>,
  most: number,
  tier: { readonly service_tier?: Json },
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([field, value]) => {
      if (LIMITS.includes(field) && typeof value === "number") return [field, Math.min(value, most)];
      if (field === "service_tier") return [field, tier.service_tier ?? value];
      const inside = EXTRA_BODIES.includes(field) && typeof value === "object" && value !== null;
      return [field, inside ? capped(value as Record<string, unknown>, most, tier) : value];
    }),
  );
}
