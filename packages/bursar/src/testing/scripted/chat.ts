import type { JsonObject } from "../../core/chain/canonical.js";
import { InputError } from "../../core/errors.js";
import { type Completion, completionOf, type Finish, type SaidToolCall } from "./completion.js";
import { isObject, type Reading, readCount, readMessages, readStops, readStream, textOf } from "./request.js";
import { piecesOf } from "./tokens.js";
import type { Usage } from "./usage.js";
import { inputTokens, spokenIn, type Wire } from "./wire.js";

const FINISH: Readonly<Record<Finish, string>> = {
  stop: "stop",
  length: "length",
  tools: "tool_calls",
  filtered: "content_filter",
};

/** OpenAI's Chat Completions. */
export const chat: Wire = {
  protocol: "openai-chat",
  provider: "openai",
  read: readChat,
  body: (answer, heard, instant) => wholeBody(completionOf(spokenIn(answer, chat), heard, instant)),
  events: (answer, heard, instant) => {
    const { stream_options: options } = heard.request.body;
    const tells = isObject(options) && options.include_usage === true;
    return eventsOf(completionOf(spokenIn(answer, chat), heard, instant), tells);
  },
  failure: (message) => event({ error: { message, type: "server_error", param: null, code: null } }),
};

function readChat(body: JsonObject): Reading {
  const messages = readMessages(body);
  const stream = readStream(body);
  if (!stream && isObject(body.stream_options)) {
    throw new InputError("stream_options", "is only allowed when stream is true");
  }
  // The first spelling replaces the second one, which is still in use; a request with both means the first.
  const most = readCount(body, "max_completion_tokens");
  const older = readCount(body, "max_tokens");
  return {
    messages,
    text: textOf(messages.at(-1)?.content),
    max_tokens: most ?? older,
    stream,
    terms: {
      input_tokens: inputTokens([messages, body.tools]),
      answers: readCount(body, "n") ?? 1,
      stops: readStops(body, "stop"),
      thinking_tokens: Number.POSITIVE_INFINITY,
    },
  };
}

function wholeBody(completion: Completion): JsonObject {
  const { text, tool_calls, finish, answers } = completion;
  const calls = tool_calls.map((call) => ({
    ...callHead(call),
    function: { name: call.name, arguments: call.arguments },
  }));
  const content = text === "" && calls.length > 0 ? null : text;
  const message = { role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) };
  const usage = usageOf(completion.usage);
  return {
    ...head(completion, "chat.completion"),
    choices: Array.from({ length: answers }, (_, index) => ({
      index,
      message,
      finish_reason: FINISH[finish],
      logprobs: null,
    })),
    ...(usage !== null && usage),
  };
}

function eventsOf(completion: Completion, tells: boolean): readonly string[] {
  const { text, tool_calls, finish, answers } = completion;
  const usage = tells ? usageOf(completion.usage) : null;
  const chunks: JsonObject[] = [];
  /** One chunk for each answer; those who asked for usage find it in all of them, and null in all but the last. */
  const tell = (delta: JsonObject, finish_reason: string | null = null) => {
    for (let index = 0; index < answers; index++) {
      const choices = [{ index, delta, finish_reason, logprobs: null }];
      chunks.push({ ...head(completion, "chat.completion.chunk"), choices, ...(usage !== null && { usage: null }) });
    }
  };
  const silent = text === "" && tool_calls.length > 0;
  tell({ role: "assistant", content: silent ? null : "", refusal: null });
  for (const content of piecesOf(text)) tell({ content });
  for (const [index, call] of tool_calls.entries()) {
    tell({ tool_calls: [{ index, ...callHead(call), function: { name: call.name, arguments: "" } }] });
    for (const piece of piecesOf(call.arguments)) tell({ tool_calls: [{ index, function: { arguments: piece } }] });
  }
  tell({}, FINISH[finish]);
  // A stream tells its usage only to those who ask for it, in an event without choices.
  if (usage !== null) chunks.push({ ...head(completion, "chat.completion.chunk"), choices: [], ...usage });
  return [...chunks.map(event), "data: [DONE]\n\n"];
}

/** The usage as a field; null when there is nothing to say. */
function usageOf(usage: Usage): JsonObject | null {
  if (usage === null) return null;
  if ("raw" in usage) return { usage: usage.raw };
  const { input, output, cached, cache_write, cache_write_1h, reasoning } = usage;
  return {
    usage: {
      prompt_tokens: input,
      completion_tokens: output,
      total_tokens: input + output,
      prompt_tokens_details: {
        cached_tokens: cached,
        audio_tokens: 0,
        cache_write_tokens: cache_write + cache_write_1h,
      },
      completion_tokens_details: {
        reasoning_tokens: reasoning,
        audio_tokens: 0,
        accepted_prediction_tokens: 0,
        rejected_prediction_tokens: 0,
      },
    },
  };
}

function callHead({ id }: SaidToolCall): JsonObject {
  return { id: `call_${id}`, type: "function" };
}

function head({ number, model, created }: Completion, object: string): JsonObject {
  const id = `chatcmpl-scripted-${number}`;
  return { id, object, created, model, service_tier: "default", system_fingerprint: "scripted" };
}

function event(data: JsonObject): string {
  return `data: ${JSON.stringify(data)}\n\n`;
}
