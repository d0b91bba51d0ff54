import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { costOfUses, type HostedTools, usesIn } from "./hosted-tools.js";
import { Intake } from "./intake.js";
import { objectOf } from "./json-object.js";
import { keepResponse, keptTokens } from "./kept-items.js";
import { checkMembers } from "./known-members.js";
import { noteOpenaiCaching, refuseOpenaiSurcharges, tierFor } from "./openai-body.js";
import { openaiModel } from "./openai-models.js";
import { readInput, readTools } from "./openai-responses-input.js";
import { ResponsesStream } from "./openai-responses-stream.js";
import { responsesUsage, usesInResponse } from "./openai-usage.js";
import type { Protocol, RequestFacts, WireRequest } from "./protocol.js";
import { checkDepth, checkHeld, flagIn, isSaid, limitIn, modelIn, textAt } from "./request-fields.js";
import { UnboundedError } from "./unbounded-error.js";

/** The OpenAI Responses API. */
export const OPENAI_RESPONSES: Protocol = {
  name: "openai-responses",
  home: "openai",
  read,
  readsAll: true,
  usage: (answer) => {
    const counts = responsesUsage(answer.usage, usesInResponse(answer));
    keepResponse(answer, counts);
    return counts;
  },
  stream: (request) => new ResponsesStream(request),
};

/** The provider refuses a lower limit. */
const LEAST_OUTPUT = 16;

function read(body: JsonObject, facts: RequestFacts): WireRequest {
  const { compatible } = facts;
  checkDepth(body, facts);
  refuseUnbounded(body);
  const model = modelIn(body, facts);
  const about = openaiModel(model);
  refuseOpenaiSurcharges(body, model, about);
  const intake = new Intake(facts);
  checkMembers(body, "openai-responses", facts, (what) => intake.unknown(what));
  if (isSaid(body.instructions)) intake.text(textAt(body.instructions, "instructions"));
  readInput(body.input, about, intake);
  readTools(body.tools, "tools", intake, facts.hosts !== false);
  if (isSaid(body.previous_response_id)) {
    intake.kept(keptTokens(body.previous_response_id), "the conversation up to previous_response_id");
  }
  if (isSaid(body.conversation)) intake.unknown("a conversation, which the provider keeps");
  noteOpenaiCaching(body, about, compatible, intake);
  const uses = usesIn(body.max_tool_calls, "max_tool_calls");
  const most = limitIn(body, "max_output_tokens", 1);
  return {
    protocol: "openai-responses",
    body,
    model,
    stream: flagIn(body, "stream"),
    input_tokens: intake.input_tokens,
    beyond: intake.beyond,
    texts: intake.texts,
    output_tokens: most,
    answers: 1,
    least_output: LEAST_OUTPUT,
    caches: intake.caches,
    audio: intake.audio,
    // Without effort a model of OpenAI's does not think; other servers may not know the field.
    hidden: about.thinks && (compatible || objectOf(body.reasoning).effort !== "none"),
    ...(intake.tools.length > 0 && { hosted: hostedIn(body, uses, intake, facts) }),
    held: (output_tokens) => {
      const to = checkHeld(output_tokens);
      return { ...body, max_output_tokens: Math.min(most ?? to, to), ...tierFor(body, compatible) };
    },
  };
}

/** One cap holds all tools together, and any of them may be the one that is used. */
function hostedIn(body: JsonObject, uses: number | null, { tools }: Intake, facts: RequestFacts): HostedTools {
  const capped = (most: number) => read({ ...body, max_tool_calls: Math.min(uses ?? most, most) }, facts);
  if (uses === null) return { uses, most_nano: 0n, capped };
  const dearest = tools.map(({ kind }) => costOfUses({ [kind]: uses })).reduce((a, b) => (a > b ? a : b), 0n);
  return { uses, most_nano: dearest, capped };
}

function refuseUnbounded(body: JsonObject): void {
  if (flagIn(body, "background")) {
    throw new UnboundedError(
      "background",
      "goes on when nobody listens any more, and its usage is told elsewhere; leave it out",
    );
  }
  if (isSaid(body.prompt)) {
    // A template brings its own model and tools, which may be the provider's, beside a text of unknown length.
    throw new UnboundedError(
      "prompt",
      "is kept by the provider and may bring tools that it charges for; send its text as input",
    );
  }
  const { context_management: management }: Record<string, Json> = body;
  if (isSaid(management) && !(Array.isArray(management) && management.length === 0)) {
    throw new UnboundedError(
      "context_management",
      "makes the provider sum up the conversation, which no limit bounds; leave it out",
    );
  }
}
