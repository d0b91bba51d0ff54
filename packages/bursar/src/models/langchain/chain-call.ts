import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError } from "../../core/errors.js";
import { invalid } from "../meter/metered-request.js";
import { type RefusalReport, unbounded } from "../meter/refusal.js";
import { ANTHROPIC_MESSAGES } from "../wire/anthropic-messages.js";
import type { Deployments } from "../wire/deployments.js";
import { hostedMember } from "../wire/hosted-tools.js";
import { Intake } from "../wire/intake.js";
import { isObject, listOf, objectOf } from "../wire/json-object.js";
import { checkMembers } from "../wire/known-members.js";
import { AROUND_TOOLS, noteOpenaiCaching, refuseOpenaiSurcharges } from "../wire/openai-body.js";
import { OPENAI_CHAT } from "../wire/openai-chat.js";
import { openaiModel } from "../wire/openai-models.js";
import type { Protocol, WireRequest } from "../wire/protocol.js";
import { answersIn, limitIn } from "../wire/request-fields.js";
import { hostedTool } from "../wire/surcharges.js";
import { UnboundedError } from "../wire/unbounded-error.js";

/** A call as LangChain tells of it before it is made. */
export interface ToldStart {
  /** The model as LangChain writes it down: the name of an Azure deployment stands nowhere else. */
  readonly llm: unknown;
  /** Messages, or the text of a prompt. */
  readonly input: unknown;
  readonly extraParams: Readonly<Record<string, unknown>> | undefined;
  readonly metadata: Readonly<Record<string, unknown>> | undefined;
}

const LIMITS = ["max_completion_tokens", "max_output_tokens", "max_tokens"] as const;
const IMAGES: ReadonlySet<unknown> = new Set(["image", "image_url", "input_image"]);
/** Parts of messages whose tokens their own bytes bound. All others have no bound that could be seen here. */
const TEXTS: ReadonlySet<unknown> = new Set([
  "text",
  "input_text",
  "output_text",
  "refusal",
  "reasoning",
  "thinking",
  "redacted_thinking",
  "tool_use",
  "tool_result",
  "tool_call",
  "function_call",
  "non_standard_content_block",
  "input_json_delta",
]);
const OWN_TOOLS: ReadonlySet<unknown> = new Set([undefined, null, "function", "custom"]);
/** Deeper than any message is; what lies below has been counted by its bytes. */
const MOST_LEVELS = 32;

/** What a call is read with. */
export interface ChainBasis {
  /** Whether a wire below holds its answer to what is left. */
  readonly isCut: boolean;
  readonly deployments: Deployments;
  readonly allow: ReadonlySet<string>;
}

/** Reads a call as the request that it will become, as far as it can be seen beforehand. */
export function readChainCall(told: ToldStart, about: ChainBasis): ChainCall | RefusalReport {
  try {
    return callOf(told, about);
  } catch (error) {
    if (error instanceof UnboundedError) return unbounded(error.message);
    if (error instanceof InputError) return invalid(error.message);
    throw error;
  }
}

export interface ChainCall {
  /** The model as the call names it. */
  readonly named: string;
  readonly protocol: Protocol;
  readonly wire: WireRequest;
}

function callOf(
  { llm, input, extraParams, metadata }: ToldStart,
  { isCut, deployments, allow }: ChainBasis,
): ChainCall {
  const params = plainOf(extraParams?.invocation_params);
  const named = modelOf(params, metadata);
  const deployed = deploymentOf(llm);
  const run = deployed === null ? deployments.modelFor(null, named) : deployments.deployed(deployed);
  const model = run?.model ?? named;
  const messages = originalOf(JSON.parse(JSON.stringify(input) ?? "null") as Json, 0);
  const written = `${JSON.stringify(messages)}${JSON.stringify(params)}`;
  const isClaude = metadata?.ls_provider === "anthropic" || /claude/i.test(model);
  const protocol = isClaude ? ANTHROPIC_MESSAGES : OPENAI_CHAT;
  const about = openaiModel(model);
  const intake = new Intake({ bytes: Buffer.byteLength(written), compatible: true });
  refuseOpenaiSurcharges(params, model, about);
  checkMembers(params, protocol.name, { allow, drawn: true }, (what) => intake.unknown(what));
  readTools(params, intake, isCut);
  readParts(messages, (detail) => about.imageTokens(detail), intake, 0);
  if (isClaude && written.includes('"cache_control"')) intake.cache("1h");
  if (!isClaude) noteOpenaiCaching(params, about, false, intake);
  const limits = LIMITS.map((field) => limitIn(params, field, 1)).filter((limit) => limit !== null);
  const wire: WireRequest = {
    protocol: protocol.name,
    model,
    stream: params.stream === true,
    texts: null,
    hidden: true,
    input_tokens: intake.input_tokens,
    beyond: intake.beyond,
    caches: intake.caches,
    audio: intake.audio,
    output_tokens: limits.length === 0 ? null : Math.min(...limits),
    answers: answersIn(params, "n"),
    // Without a wire that holds the answer to what is left, all of it has to fit.
    least_output: isCut ? 1 : Number.MAX_SAFE_INTEGER,
    ...(deployed !== null && { deployment: deployed }),
    body: {},
    held: () => ({}),
  };
  return { named, protocol, wire };
}

function plainOf(params: unknown): JsonObject {
  return objectOf(JSON.parse(JSON.stringify(params ?? null) ?? "null") as Json);
}

/** The names that LangChain has had for a deployment. */
const DEPLOYMENT_NAMES = ["deployment_name", "deploymentName", "azureOpenAIApiDeploymentName"];

function deploymentOf(llm: unknown): string | null {
  const { kwargs } = (llm ?? {}) as { readonly kwargs?: Readonly<Record<string, unknown>> };
  const named = DEPLOYMENT_NAMES.map((name) => kwargs?.[name]).find((name) => typeof name === "string" && name !== "");
  return typeof named === "string" ? named : null;
}

function modelOf(params: JsonObject, metadata: Readonly<Record<string, unknown>> | undefined): string {
  for (const name of [params.model, params.model_name, params.modelName, metadata?.ls_model_name]) {
    if (typeof name === "string" && name !== "") return name;
  }
  throw new InputError("model", "is not named; allowed: a model with a name, without which nobody knows its price");
}

/** What the provider runs by itself is refused, unless a wire below reads the request, and caps it or refuses it. */
function readTools({ tools, functions }: JsonObject, intake: Intake, isWired: boolean): void {
  for (const [place, list] of Object.entries({ tools, functions })) {
    for (const [index, tool] of listOf(list).entries()) {
      if (index === 0) intake.add(AROUND_TOOLS);
      const own = objectOf(tool);
      const hosted = OWN_TOOLS.has(own.type) ? hostedMember(own) : own.type;
      if (hosted !== null && !isWired) throw hostedTool(`${place}[${index}]`, hosted);
    }
  }
}

/** Looks for what the bytes of a message do not bound. */
function readParts(value: Json, figure: (detail: Json | undefined) => number, intake: Intake, level: number): void {
  if (level > MOST_LEVELS || typeof value !== "object" || value === null) return;
  if (!isObject(value)) {
    for (const each of value as readonly Json[]) readParts(each, figure, intake, level + 1);
    return;
  }
  for (const part of listOf(value.content)) {
    const { type, image_url } = objectOf(part);
    const { url = image_url, detail, format } = objectOf(image_url);
    if (typeof part === "string" || TEXTS.has(type)) readParts(part, figure, intake, level + 1);
    else if (IMAGES.has(type) && typeof url === "string") intake.imageAt(url, format, figure(detail), "an image");
    else if (IMAGES.has(type)) intake.image(figure(detail), 0);
    else intake.unknown(`a part of a message of type ${JSON.stringify(type)}`);
  }
}

/**
 * Messages as they were given. LangChain tells of copies, in which a file behind an address looks like an image; what they were
 * made of stands among the arguments of their constructors.
 */
function originalOf(value: Json, level: number): Json {
  if (level > MOST_LEVELS) return value;
  if (!isObject(value)) return Array.isArray(value) ? listOf(value).map((each) => originalOf(each, level + 1)) : value;
  const inner = value.kwargs ?? value.lc_kwargs;
  return isObject(inner) ? originalOf(inner, level + 1) : value;
}
