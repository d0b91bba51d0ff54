import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { show } from "../../core/errors.js";
import { noteCacheControl } from "./cache-control.js";
import { hostedMember } from "./hosted-tools.js";
import { Intake } from "./intake.js";
import { isObject, listOf, objectOf } from "./json-object.js";
import { checkMembers } from "./known-members.js";
import { checkCase } from "./member-names.js";
import { AROUND_TOOLS, noteOpenaiCaching, refuseOpenaiSurcharges, tierFor } from "./openai-body.js";
import { ChatStream } from "./openai-chat-stream.js";
import { type OpenaiModel, openaiModel } from "./openai-models.js";
import { chatUsage } from "./openai-usage.js";
import type { Protocol, RequestFacts, WireRequest } from "./protocol.js";
import {
  answersIn,
  below,
  checkDepth,
  checkHeld,
  flagIn,
  forEachObject,
  isSaid,
  limitIn,
  listAt,
  modelIn,
  nameOf,
  type Place,
  textAt,
} from "./request-fields.js";
import { hostedTool } from "./surcharges.js";
import { UnboundedError } from "./unbounded-error.js";

/** The OpenAI Chat Completions API, which many other servers speak too. */
export const OPENAI_CHAT: Protocol = {
  name: "openai-chat",
  home: "openai",
  read,
  readsAll: false,
  usage: (answer) => chatUsage(answer.usage),
  stream: (request) => new ChatStream(request),
};

/** The two spellings of the limit of output: the second one is deprecated, and the only one that older servers know. */
const LIMITS = ["max_completion_tokens", "max_tokens"] as const;

function read(body: JsonObject, facts: RequestFacts): WireRequest {
  const { compatible } = facts;
  checkDepth(body, facts);
  const model = modelIn(body, facts);
  const about = openaiModel(model);
  refuseOpenaiSurcharges(body, model, about);
  const intake = new Intake(facts);
  checkMembers(body, "openai-chat", facts, (what) => intake.unknown(what));
  readMessages(body.messages, about, intake);
  readTools(body, intake);
  readModalities(body, intake);
  noteOpenaiCaching(body, about, compatible, intake);
  const [newer, older] = [limitIn(body, "max_completion_tokens", 1), limitIn(body, "max_tokens", 1)];
  const stream = flagIn(body, "stream");
  return {
    protocol: "openai-chat",
    body,
    model,
    stream,
    input_tokens: intake.input_tokens,
    beyond: intake.beyond,
    texts: intake.texts,
    output_tokens: newer === null || older === null ? (newer ?? older) : Math.max(newer, older),
    // Of `best_of` answers only the best are shown, and all are paid for.
    answers: Math.max(answersIn(body, "n"), answersIn(body, "best_of")),
    least_output: 1,
    caches: intake.caches,
    audio: intake.audio,
    // Without effort a model of OpenAI's does not think; other servers may not know the field.
    hidden: about.thinks && (compatible || body.reasoning_effort !== "none"),
    usage_added: stream && objectOf(body.stream_options).include_usage !== true,
    held: (output_tokens) => held(body, checkHeld(output_tokens), stream, compatible && !about.newLimit, compatible),
  };
}

/** The body with every limit at most as high as it is held to; one that has none gets the spelling its server knows. */
function held(body: JsonObject, most: number, stream: boolean, old: boolean, compatible: boolean): JsonObject {
  const sent: Record<string, Json> = { ...body };
  for (const field of LIMITS) {
    const own = limitIn(body, field, 1);
    if (own === null) continue;
    const limit = Math.min(own, most);
    if (limit !== body[field]) sent[field] = limit;
  }
  if (LIMITS.every((field) => !isSaid(sent[field]))) sent[old ? "max_tokens" : "max_completion_tokens"] = most;
  if (stream) sent.stream_options = { ...objectOf(body.stream_options), include_usage: true };
  return Object.assign(sent, tierFor(body, compatible));
}

function readMessages(messages: Json | undefined, about: OpenaiModel, intake: Intake): void {
  forEachObject(messages, "messages", (message, at) => {
    noteCacheControl(message, intake);
    // Mostly it is a text, and then nobody asks where it stands.
    if (typeof message.content === "string") intake.text(message.content);
    else readContent(message.content, below(at, "content"), about, intake);
    if (typeof message.refusal === "string") intake.text(message.refusal);
    for (const call of listOf(message.tool_calls)) {
      const { function: named, custom } = objectOf(call);
      for (const each of [call, named, custom]) if (isObject(each)) checkCase(each, below(at, "tool_calls"));
      for (const piece of [objectOf(named).arguments, objectOf(custom).input]) {
        if (typeof piece === "string") intake.text(piece);
      }
    }
    if (isSaid(message.audio)) {
      intake.audio = true;
      intake.unknown("an earlier answer in sound, which the provider keeps");
    }
  });
}

function readContent(content: Json | undefined, place: Place, about: OpenaiModel, intake: Intake): void {
  if (!isSaid(content)) return;
  forEachObject(content, place, (part, at) => {
    noteCacheControl(part, intake);
    readPart(part, at, about, intake);
  });
}

function readPart(part: JsonObject, place: Place, about: OpenaiModel, intake: Intake): void {
  switch (part.type) {
    case "text":
    case "refusal":
      intake.text(textAt(part[part.type], below(place, part.type)));
      break;
    case "image_url": {
      if (isObject(part.image_url)) checkCase(part.image_url, below(place, "image_url"));
      const { detail, format } = objectOf(part.image_url);
      const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
      const at = below(place, "image_url");
      intake.imageAt(textAt(url, at), format, about.imageTokens(detail), at);
      break;
    }
    case "input_audio":
      intake.sound();
      break;
    case "file":
      // Even one that stands in the body: a PDF holds compressed text, and a picture of each page is counted beside it.
      intake.unknown(() => `the file in ${nameOf(place)}`);
      break;
    default:
      intake.unknown(() => `${nameOf(place)} of type ${show(part.type)}`);
  }
}

/** Functions and custom tools are run by the caller; everything else is a tool of the provider's. */
function readTools(body: JsonObject, intake: Intake): void {
  readToolList(body.tools, "tools", intake);
  // Servers that translate to other protocols take hosted tools in the older member too.
  readToolList(body.functions, "functions", intake);
}

function readToolList(tools: Json | undefined, place: "tools" | "functions", intake: Intake): void {
  if (!isSaid(tools)) return;
  if (listAt(tools, place).length > 0) intake.add(AROUND_TOOLS);
  forEachObject(tools, place, (tool, at) => {
    const { type = place === "functions" || isObject(tool.function) ? "function" : null } = tool;
    if (type !== "function" && type !== "custom") throw hostedTool(at, type);
    const hosted = hostedMember(tool);
    if (hosted !== null) throw hostedTool(at, hosted);
    for (const named of [tool.function, tool.custom]) if (isObject(named)) checkCase(named, below(at, "function"));
    noteCacheControl(tool, intake);
  });
}

function readModalities(body: JsonObject, intake: Intake): void {
  if (isSaid(body.audio)) intake.audio = true;
  if (!isSaid(body.modalities)) return;
  for (const modality of listAt(body.modalities, "modalities")) {
    if (modality === "audio") intake.audio = true;
    else if (modality !== "text") {
      throw new UnboundedError(
        "modalities",
        `has ${show(modality)}, which is not paid for by the token; ask for "text" or "audio"`,
      );
    }
  }
}
