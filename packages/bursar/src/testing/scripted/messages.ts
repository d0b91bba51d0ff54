import type { IncomingHttpHeaders } from "node:http";
import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { InputError, show } from "../../core/errors.js";
import { type Completion, completionOf, type Finish } from "./completion.js";
import {
  type Heard,
  isObject,
  type Reading,
  readCount,
  readMessages,
  readStops,
  readStream,
  textOf,
} from "./request.js";
import { piecesOf } from "./tokens.js";
import type { Usage } from "./usage.js";
import { inputTokens, namedEvent, type Purpose, spokenIn, type Wire } from "./wire.js";

const FINISH: Readonly<Record<Finish, string>> = {
  stop: "end_turn",
  length: "max_tokens",
  tools: "tool_use",
  filtered: "refusal",
};
const ROLES: readonly Json[] = ["user", "assistant", "system"];
/** What is about the answer has no place where only the input is counted. */
const OF_THE_ANSWER = ["max_tokens", "stream", "temperature", "top_p", "top_k", "stop_sequences", "metadata"];
/** Anthropic refuses to think with less. */
const LEAST_THINKING = 1024;

/** Anthropic's Messages. */
export const messages: Wire = {
  protocol: "anthropic-messages",
  provider: "anthropic",
  read: readAsked,
  body: (answer, heard, instant) => {
    const completion = completionOf(spokenIn(answer, messages), heard, instant);
    const content = blocksOf(completion, heard).map(({ whole }) => whole);
    return { ...head(completion), content, ...endOf(completion), ...usageOf(completion.usage, "all") };
  },
  events: (answer, heard, instant) => {
    const completion = completionOf(spokenIn(answer, messages), heard, instant);
    return eventsOf(completion, blocksOf(completion, heard));
  },
  failure: (message) => namedEvent({ type: "error", error: { type: "overloaded_error", message } }),
};

function readAsked(body: JsonObject, headers: IncomingHttpHeaders, purpose: Purpose): Reading {
  if (headers["anthropic-version"] === undefined) throw new InputError("anthropic-version:", "header is required");
  const extra = purpose === "count" ? OF_THE_ANSWER.find((name) => body[name] !== undefined) : undefined;
  if (extra !== undefined) throw new InputError(`${extra}:`, "Extra inputs are not permitted");
  const asked = readMessages(body);
  for (const [index, { role }] of asked.entries()) {
    if (role === undefined || !ROLES.includes(role)) {
      throw new InputError(`messages.${index}.role`, `is ${show(role)}; allowed: ${ROLES.join(", ")}`);
    }
  }
  const most = readCount(body, "max_tokens");
  if (most === null && purpose === "answer") throw new InputError("max_tokens:", "Field required");
  return {
    messages: asked,
    text: textOf(asked.at(-1)?.content),
    max_tokens: most,
    stream: readStream(body),
    terms: {
      input_tokens: inputTokens([asked, body.system, body.tools]),
      answers: 1,
      stops: readStops(body, "stop_sequences"),
      thinking_tokens: readThinking(body.thinking, most),
    },
  };
}

/** The most it may think, which is nothing unless it is asked to. */
function readThinking(thinking: Json | undefined, most: number | null): number {
  if (!isObject(thinking) || thinking.type === "disabled") return 0;
  if (thinking.type !== "enabled") return Number.POSITIVE_INFINITY;
  const tokens = readCount(thinking, "budget_tokens", LEAST_THINKING);
  if (tokens === null) throw new InputError("thinking.enabled.budget_tokens:", "Field required");
  if (most !== null && tokens >= most)
    throw new InputError("max_tokens", "must be greater than thinking.budget_tokens");
  return tokens;
}

/** A block of content: whole, and as a stream brings it. */
interface Block {
  readonly whole: JsonObject;
  readonly start: JsonObject;
  readonly deltas: readonly JsonObject[];
}

function blocksOf({ number, thinking, text, tool_calls }: Completion, { request }: Heard): readonly Block[] {
  const blocks: Block[] = [];
  if (thinking !== "") {
    const asked = request.body.thinking;
    const shown = isObject(asked) && asked.display === "omitted" ? "" : thinking;
    // Whoever sends a block of thinking back sends this along; here it is only a mark that somebody did.
    const signature = Buffer.from(`scripted thinking ${number}`).toString("base64");
    blocks.push({
      whole: { type: "thinking", thinking: shown, signature },
      start: { type: "thinking", thinking: "", signature: "" },
      deltas: [
        ...piecesOf(shown).map((piece) => ({ type: "thinking_delta", thinking: piece })),
        { type: "signature_delta", signature },
      ],
    });
  }
  if (text !== "") {
    const deltas = piecesOf(text).map((piece) => ({ type: "text_delta", text: piece }));
    blocks.push({ whole: { type: "text", text }, start: { type: "text", text: "" }, deltas });
  }
  for (const call of tool_calls) {
    const start = { type: "tool_use", id: `toolu_${call.id}`, name: call.name, input: {}, caller: { type: "direct" } };
    const pieces = ["", ...piecesOf(call.arguments)];
    const deltas = pieces.map((piece) => ({ type: "input_json_delta", partial_json: piece }));
    blocks.push({ whole: { ...start, input: call.input }, start, deltas });
  }
  return blocks;
}

function eventsOf(completion: Completion, blocks: readonly Block[]): readonly string[] {
  const begun = { ...head(completion), content: [], ...NO_END, ...usageOf(completion.usage, "begun") };
  const ping = namedEvent({ type: "ping" });
  const all = [namedEvent({ type: "message_start", message: begun })];
  for (const [index, { start, deltas }] of blocks.entries()) {
    all.push(namedEvent({ type: "content_block_start", index, content_block: start }));
    if (index === 0) all.push(ping);
    for (const delta of deltas) all.push(namedEvent({ type: "content_block_delta", index, delta }));
    all.push(namedEvent({ type: "content_block_stop", index }));
  }
  if (blocks.length === 0) all.push(ping);
  const delta = { ...endOf(completion), container: null };
  all.push(namedEvent({ type: "message_delta", delta, ...usageOf(completion.usage, "total") }));
  return [...all, namedEvent({ type: "message_stop" })];
}

const NO_END: JsonObject = { stop_reason: null, stop_sequence: null, stop_details: null };

function endOf({ finish, stop }: Completion): JsonObject {
  return { ...NO_END, stop_reason: stop === null ? FINISH[finish] : "stop_sequence", stop_sequence: stop };
}

/**
 * The usage as a field, unless there is nothing to say: of a whole answer, at the beginning of a stream, when all of the input is
 * known and hardly any output, or at its end, when what was said at the beginning is said again, as a total.
 */
function usageOf(usage: Usage, when: "all" | "begun" | "total"): JsonObject {
  if (usage === null) return {};
  if ("raw" in usage) return { usage: usage.raw };
  const { input, cached, cache_write, cache_write_1h, output, reasoning } = usage;
  const counts = {
    input_tokens: input - cached - cache_write - cache_write_1h,
    cache_creation_input_tokens: cache_write + cache_write_1h,
    cache_read_input_tokens: cached,
    output_tokens: when === "begun" ? Math.min(1, output) : output,
    ...(when !== "begun" && reasoning > 0 && { output_tokens_details: { thinking_tokens: reasoning } }),
  };
  if (when === "total") return { usage: counts };
  const cache_creation = { ephemeral_5m_input_tokens: cache_write, ephemeral_1h_input_tokens: cache_write_1h };
  return { usage: { ...counts, cache_creation, service_tier: "standard" } };
}

function head({ number, model }: Completion): JsonObject {
  return { id: `msg_scripted_${number}`, type: "message", role: "assistant", model };
}
