import type { Json, JsonObject } from "../core/chain/canonical.js";
import type { ScriptedText, ScriptedToolCall, ScriptedUsage } from "./scripted-model-answer.js";

/** What a scripted model was asked, as it came in. */
export interface ScriptedRequest {
  /** The first is 1. */
  readonly number: number;
  readonly model: string;
  readonly messages: readonly JsonObject[];
  /** The text of the last message. */
  readonly text: string;
  readonly max_tokens: number | null;
  readonly stream: boolean;
  readonly body: JsonObject;
  readonly headers: Readonly<Record<string, string>>;
}

/** A completion under way to the wire. */
interface Completion {
  readonly id: string;
  readonly model: string;
  readonly created: number;
  readonly text: string;
  readonly tool_calls: readonly JsonObject[];
  readonly finish_reason: "stop" | "length" | "tool_calls";
  readonly usage: (ScriptedUsage & JsonObject) | null;
}

/** About what tokenizers make of English; it is a script, and says so. */
const BYTES_PER_TOKEN = 4;
/** How much of a text one event of a stream carries. */
const PIECE = 24;

/** Makes a completion of a scripted text. No answer is longer than the request allows, as with a real provider. */
export function completionOf(answer: ScriptedText, request: ScriptedRequest, instant: number): Completion {
  const most = request.max_tokens ?? Number.POSITIVE_INFINITY;
  const whole = tokensOf(answer.text) <= most;
  const text = whole ? answer.text : beginningOf(answer.text, most);
  const tool_calls = (answer.tool_calls ?? []).map((call, index) => toolCall(call, request.number, index));
  const counted = { prompt_tokens: tokensOf(JSON.stringify(request.messages)), completion_tokens: tokensOf(text) };
  const usage = answer.usage === undefined ? counted : answer.usage;
  return {
    ...{ id: `chatcmpl-scripted-${request.number}`, model: request.model, created: Math.floor(instant / 1000) },
    ...{ text, tool_calls, finish_reason: whole ? (tool_calls.length > 0 ? "tool_calls" : "stop") : "length" },
    usage: usage === null ? null : totalled(usage),
  };
}

/** The answer as one object. */
export function wholeBody({ text, tool_calls, finish_reason, usage, ...common }: Completion): JsonObject {
  const message = { role: "assistant", content: text, ...(tool_calls.length > 0 && { tool_calls }) };
  return {
    ...head(common, "chat.completion"),
    choices: [{ index: 0, message, finish_reason, logprobs: null }],
    ...(usage !== null && { usage }),
  };
}

/** The answer as the events of a stream; the last one says that it is over. */
export function events(completion: Completion, request: ScriptedRequest): readonly string[] {
  const { text, tool_calls, finish_reason, usage } = completion;
  const chunk = (delta: JsonObject, finish: string | null = null): JsonObject => ({
    ...head(completion, "chat.completion.chunk"),
    choices: [{ index: 0, delta, finish_reason: finish, logprobs: null }],
  });
  const chunks = [chunk({ role: "assistant", content: "" })];
  for (const piece of pieces(text)) chunks.push(chunk({ content: piece }));
  tool_calls.forEach((call, index) => {
    chunks.push(chunk({ tool_calls: [{ index, ...call }] }));
  });
  chunks.push(chunk({}, finish_reason));
  // A stream tells its usage only to those who ask for it, in an event without choices.
  if (usage !== null && wantsUsage(request)) {
    chunks.push({ ...head(completion, "chat.completion.chunk"), choices: [], usage });
  }
  return [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), "data: [DONE]\n\n"];
}

function tokensOf(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}

/** An error as providers write it. */
export function errorBody(status: number, message: string, code: string): JsonObject {
  const type = status === 429 ? "rate_limit_error" : status >= 500 ? "server_error" : "invalid_request_error";
  return { error: { message, type, code, param: null } };
}

function head(of: Pick<Completion, "id" | "model" | "created">, object: string): JsonObject {
  const { id, model, created } = of;
  return { id, object, created, model, system_fingerprint: "scripted" };
}

function totalled({ prompt_tokens, completion_tokens }: ScriptedUsage): ScriptedUsage & JsonObject {
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}

function toolCall({ name, arguments: args }: ScriptedToolCall, number: number, index: number): JsonObject {
  return { id: `call_${number}_${index}`, type: "function", function: { name, arguments: JSON.stringify(args) } };
}

/** As many whole characters as fit into so many tokens. */
function beginningOf(text: string, tokens: number): string {
  let bytes = 0;
  let end = 0;
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > tokens * BYTES_PER_TOKEN) break;
    end += character.length;
  }
  return text.slice(0, end);
}

function pieces(text: string): readonly string[] {
  const characters = [...text];
  return Array.from({ length: Math.ceil(characters.length / PIECE) }, (_, index) =>
    characters.slice(index * PIECE, (index + 1) * PIECE).join(""),
  );
}

function wantsUsage({ body }: ScriptedRequest): boolean {
  const options: Json | undefined = body.stream_options;
  return (
    typeof options === "object" && options !== null && "include_usage" in options && options.include_usage === true
  );
}
