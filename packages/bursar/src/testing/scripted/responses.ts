import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { type Completion, completionOf } from "./completion.js";
import { type Heard, isObject, type Reading, readCount, readStream, textOf } from "./request.js";
import { itemEvents } from "./responses-events.js";
import { type Item, itemsOf } from "./responses-items.js";
import type { Usage } from "./usage.js";
import { inputTokens, namedEvent, type Purpose, spokenIn, type Wire } from "./wire.js";

/** OpenAI refuses a lower limit. */
const LEAST_OUTPUT = 16;

/** OpenAI's Responses. */
export const responses: Wire = {
  protocol: "openai-responses",
  provider: "openai",
  read: readResponses,
  body: (answer, heard, instant) => {
    const completion = completionOf(spokenIn(answer, responses), heard, instant);
    return ended(completion, heard, itemsOf(completion, heard));
  },
  events: (answer, heard, instant) => {
    const completion = completionOf(spokenIn(answer, responses), heard, instant);
    return eventsOf(completion, heard);
  },
  // The SDK's types have its fields side by side; on the wire they stand in an `error`, where the SDK looks for it.
  failure: (message, sent) => {
    const error = { type: "server_error", code: "server_error", message, param: null };
    return namedEvent({ type: "error", sequence_number: sent, error });
  },
};

function readResponses(body: JsonObject, _headers: unknown, purpose: Purpose): Reading {
  const items = inputOf(body);
  const last = items.at(-1) ?? {};
  const least = purpose === "count" ? 1 : LEAST_OUTPUT;
  return {
    messages: items,
    text: textOf(last.content ?? last.output),
    max_tokens: readCount(body, "max_output_tokens", least),
    stream: readStream(body),
    terms: {
      input_tokens: inputTokens([items, body.instructions, body.tools]),
      answers: 1,
      stops: [],
      thinking_tokens: Number.POSITIVE_INFINITY,
    },
  };
}

/** The items of the input; a text is a message of the user. A stored prompt can stand in for all of it. */
function inputOf({ input, prompt }: JsonObject): readonly JsonObject[] {
  if (typeof input === "string") return [{ role: "user", content: input }];
  if (input === undefined && isObject(prompt)) return [];
  if (Array.isArray(input) && input.length > 0 && input.every(isItem)) return input;
  throw new InputError("input", `is ${show(input)}; allowed: a text, or a list of objects with a role or a type`);
}

function isItem(value: Json): value is JsonObject {
  return isObject(value) && (typeof value.role === "string" || typeof value.type === "string");
}

function eventsOf(completion: Completion, heard: Heard): readonly string[] {
  const items = itemsOf(completion, heard);
  const open = { ...base(completion, heard), status: "in_progress", output: [], usage: null };
  const over = ended(completion, heard, items);
  const all: (JsonObject & { readonly type: string })[] = [
    { type: "response.created", response: open },
    { type: "response.in_progress", response: open },
    ...items.flatMap(itemEvents),
    { type: over.status === "incomplete" ? "response.incomplete" : "response.completed", response: over },
  ];
  return all.map((data, sequence_number) => namedEvent({ ...data, sequence_number }));
}

function ended(completion: Completion, heard: Heard, items: readonly Item[]): JsonObject {
  const reasons: Readonly<Record<string, string>> = { length: "max_output_tokens", filtered: "content_filter" };
  const reason = reasons[completion.finish];
  return {
    ...base(completion, heard),
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    output: items.map(({ whole }) => whole),
    usage: usageOf(completion.usage),
  };
}

/** What stands in a response from its beginning: most of it repeats what was asked. */
function base({ number, model, created }: Completion, { request: { body } }: Heard): JsonObject {
  const asked = (field: string, otherwise: Json): Json => body[field] ?? otherwise;
  return {
    id: `resp_scripted_${number}`,
    object: "response",
    created_at: created,
    model,
    background: false,
    error: null,
    incomplete_details: null,
    service_tier: "default",
    instructions: asked("instructions", null),
    max_output_tokens: asked("max_output_tokens", null),
    metadata: asked("metadata", {}),
    parallel_tool_calls: asked("parallel_tool_calls", true),
    previous_response_id: asked("previous_response_id", null),
    reasoning: asked("reasoning", { effort: null, summary: null }),
    store: asked("store", true),
    temperature: asked("temperature", 1),
    text: asked("text", { format: { type: "text" } }),
    tool_choice: asked("tool_choice", "auto"),
    tools: asked("tools", []),
    top_p: asked("top_p", 1),
    truncation: asked("truncation", "disabled"),
    user: asked("user", null),
  };
}

function usageOf(usage: Usage): Json {
  if (usage === null) return null;
  if ("raw" in usage) return usage.raw;
  const { input, output, cached, cache_write, cache_write_1h, reasoning } = usage;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cache_write + cache_write_1h },
    output_tokens_details: { reasoning_tokens: reasoning },
  };
}
