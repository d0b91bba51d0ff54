import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { Intake } from "./intake.js";
import { isObject } from "./json-object.js";
import { checkMembers } from "./known-members.js";
import { ChatStream } from "./openai-chat-stream.js";
import { embeddingsUsage } from "./openai-usage.js";
import type { Protocol, RequestFacts, WireRequest } from "./protocol.js";
import { checkDepth, checkHeld, modelIn } from "./request-fields.js";
import { refuseSurcharges } from "./surcharges.js";

/** The OpenAI Embeddings API: input alone, and numbers in return. */
export const OPENAI_EMBEDDINGS: Protocol = {
  name: "openai-embeddings",
  home: "openai",
  read,
  readsAll: false,
  usage: (answer) => embeddingsUsage(answer.usage),
  // Nobody streams embeddings; a server that answers with events all the same writes them as for a completion.
  stream: (request) => new ChatStream(request),
};

function read(body: JsonObject, facts: RequestFacts): WireRequest {
  checkDepth(body, facts);
  const model = modelIn(body, facts);
  refuseSurcharges(body);
  const intake = new Intake(facts);
  checkMembers(body, "openai-embeddings", facts, (what) => intake.unknown(what));
  readInput(body.input, intake);
  return {
    protocol: "openai-embeddings",
    body,
    model,
    stream: false,
    input_tokens: intake.input_tokens,
    beyond: intake.beyond,
    texts: intake.texts,
    output_tokens: 0,
    answers: 1,
    least_output: 0,
    caches: "no",
    audio: false,
    hidden: false,
    held: (output_tokens) => {
      checkHeld(output_tokens);
      return { ...body };
    },
  };
}

/** A text, texts, tokens or lists of tokens. A token takes a digit and a comma at least, so that bytes bound them too. */
function readInput(input: Json | undefined, intake: Intake): void {
  if (typeof input === "string") {
    intake.text(input);
    return;
  }
  if (!Array.isArray(input)) {
    throw new InputError("input", `is ${show(input)}; allowed: a text, or a list of texts or tokens`);
  }
  const items: readonly Json[] = input;
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (typeof item === "number" || Array.isArray(item)) continue;
    if (typeof item === "string") intake.text(item);
    else if (isObject(item)) intake.unknown(`input[${index}]`);
    else throw new InputError(`input[${index}]`, `is ${show(item)}; allowed: a text, a token or a list of tokens`);
  }
}
