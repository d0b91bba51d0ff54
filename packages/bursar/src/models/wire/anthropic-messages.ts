import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { InputError, show } from "../../core/errors.js";
import { readContent, readTools } from "./anthropic-blocks.js";
import { MessagesStream } from "./anthropic-messages-stream.js";
import { messagesUsage, usesInBlocks } from "./anthropic-usage.js";
import { noteCacheControl } from "./cache-control.js";
import { cappedTools, costOfUses, type HostedTools } from "./hosted-tools.js";
import { Intake } from "./intake.js";
import { objectOf } from "./json-object.js";
import { checkMembers } from "./known-members.js";
import type { Protocol, RequestFacts, WireRequest } from "./protocol.js";
import {
  below,
  checkDepth,
  checkHeld,
  flagIn,
  forEachObject,
  isSaid,
  limitIn,
  modelIn,
  objectAt,
} from "./request-fields.js";
import { refuseSurcharges } from "./surcharges.js";
import { UnboundedError } from "./unbounded-error.js";

/** The Anthropic Messages API. */
export const ANTHROPIC_MESSAGES: Protocol = {
  name: "anthropic-messages",
  home: "anthropic",
  read,
  readsAll: false,
  readsAllWith: "server_tool_use",
  usage: (answer) => messagesUsage(answer.usage, usesInBlocks(answer.content)),
  stream: (request) => new MessagesStream(request),
};

/** The provider refuses a lower budget for thinking. */
const LEAST_THINKING = 1_024;

/** Families that do not think unless they are told to. What is not listed may, and shows a summary of it at most. */
const PLAIN = [/^claude-(?:v?[12]|instant|3)(?:[-.:]|$)/, /^claude-(?:opus|sonnet|haiku)-4(?:-[0-6])?(?:[-@:]\d{8}|$)/];

const SURCHARGED: Readonly<Record<string, string>> = {
  mcp_servers:
    "lets the provider use tools of other servers, and nobody can say beforehand how often; offer them as tools",
  container: "is a machine that is charged by the hour; leave it out",
  compaction: "makes the provider sum up the conversation, which its usage does not tell; leave it out",
};

function read(body: JsonObject, facts: RequestFacts): WireRequest {
  const { compatible } = facts;
  checkDepth(body, facts);
  const model = modelIn(body, facts);
  refuseCharges(body);
  const intake = new Intake(facts);
  checkMembers(body, "anthropic-messages", facts, (what) => intake.unknown(what));
  noteCacheControl(body, intake);
  readContent(body.system, "system", intake);
  forEachObject(body.messages, "messages", ({ content }, at) => readContent(content, below(at, "content"), intake));
  readTools(body.tools, intake, facts.hosts !== false);
  if (isSaid(body.thread)) intake.unknown("a thread, which the provider keeps");
  const most = limitIn(body, "max_tokens", 0);
  const thinking = thinkingIn(body);
  return {
    protocol: "anthropic-messages",
    body,
    model,
    stream: flagIn(body, "stream"),
    input_tokens: intake.input_tokens,
    beyond: intake.beyond,
    texts: intake.texts,
    output_tokens: most,
    answers: 1,
    // With a limit of 0 a request only fills the cache. With thinking, its budget has to stay below the limit.
    least_output: most === 0 ? 0 : thinking === null ? 1 : LEAST_THINKING + 1,
    caches: intake.caches,
    audio: false,
    hidden: mayHide(body, model, compatible),
    ...(intake.tools.length > 0 && { hosted: hostedIn(body, intake, facts) }),
    held: (output_tokens) => held(body, checkHeld(output_tokens), most, thinking),
  };
}

/** Each tool has a cap of its own. */
function hostedIn(body: JsonObject, { tools }: Intake, facts: RequestFacts): HostedTools {
  const capped = (uses: number) => read({ ...body, tools: cappedTools(body.tools, uses) }, facts);
  if (tools.some(({ uses }) => uses === null)) return { uses: null, most_nano: 0n, capped };
  const most_nano = tools.reduce((sum, { kind, uses }) => sum + costOfUses({ [kind]: uses ?? 0 }), 0n);
  return { uses: tools.reduce((sum, { uses }) => sum + (uses ?? 0), 0), most_nano, capped };
}

/** The body with the limit at most as high as it is held to, and the budget for thinking inside of it, as the provider wants it. */
function held(body: JsonObject, to: number, most: number | null, thinking: number | null): JsonObject {
  const max_tokens = Math.min(most ?? to, to);
  if (thinking === null || thinking < max_tokens || max_tokens === most) return { ...body, max_tokens };
  const budget_tokens = Math.max(LEAST_THINKING, max_tokens - 1);
  return { ...body, max_tokens, thinking: { ...objectOf(body.thinking), budget_tokens } };
}

/** The budget for thinking, which counts toward `max_tokens`; null where none is said. */
function thinkingIn(body: JsonObject): number | null {
  if (!isSaid(body.thinking)) return null;
  const { type, budget_tokens } = objectAt(body.thinking, "thinking");
  if (type !== "enabled" && !isSaid(budget_tokens)) return null;
  if (isCount(budget_tokens)) return budget_tokens;
  throw new InputError("thinking.budget_tokens", `is ${show(budget_tokens)}; allowed: a whole number of tokens`);
}

/** What becomes of thinking that nobody has mentioned depends on the model. Other servers may not care what was mentioned. */
function mayHide(body: JsonObject, model: string, compatible: boolean): boolean {
  const name = model.slice(model.lastIndexOf("/") + 1).toLowerCase();
  const { type = null } = objectOf(body.thinking);
  if (type === null) return !PLAIN.some((family) => family.test(name));
  return type !== "disabled" || compatible;
}

function refuseCharges(body: JsonObject): void {
  refuseSurcharges(body, SURCHARGED);
  const { inference_geo: region } = body;
  if (isSaid(region) && region !== "global") {
    throw new UnboundedError("inference_geo", `is ${show(region)}, and regions have prices of their own; leave it out`);
  }
  refuseSummaries(body.context_management);
}

/** To clear old results makes a request smaller; to sum them up is paid for apart, and the usage does not tell it. */
function refuseSummaries(management: Json | undefined): void {
  const place = "context_management";
  if (!isSaid(management)) return;
  const { edits, ...others } = objectAt(management, place);
  for (const name of Object.keys(others)) {
    throw new UnboundedError(`${place}.${name}`, "may be paid for apart; leave it out");
  }
  if (!isSaid(edits)) return;
  forEachObject(edits, below(place, "edits"), ({ type }) => {
    if (typeof type === "string" && type.startsWith("clear_")) return;
    throw new UnboundedError(place, `has an edit of type ${show(type)}, which is paid for apart; leave it out`);
  });
}
