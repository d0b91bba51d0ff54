import type { JsonObject } from "../../core/chain/canonical.js";
import type { ScriptedToolCall, Spoken } from "./answer.js";
import type { Heard, Terms } from "./request.js";
import { beginningOf, tokensOf } from "./tokens.js";
import { isBeyond, type Usage, usageFor } from "./usage.js";

/** An answer under way to the wire, before any protocol has written it. */
export interface Completion {
  readonly number: number;
  readonly model: string;
  /** Seconds since 1970. */
  readonly created: number;
  readonly thinking: string;
  readonly text: string;
  readonly tool_calls: readonly SaidToolCall[];
  readonly finish: Finish;
  /** The text that ended it, if one did. */
  readonly stop: string | null;
  /** How many answers there are, each like this. */
  readonly answers: number;
  readonly usage: Usage;
}

/** Why an answer is over. */
export type Finish = "stop" | "length" | "tools" | "filtered";

/** A tool call as far as it was said. */
export interface SaidToolCall {
  /** `1_0` for the first call of the first answer: protocols put their own letters before it. */
  readonly id: string;
  readonly name: string;
  /** JSON, or the beginning of it where the answer had to end. */
  readonly arguments: string;
  /** The arguments, or nothing where the answer had to end. */
  readonly input: JsonObject;
}

/** Makes a completion of what a script says. No answer is longer than the request allows, as with a real provider. */
export function completionOf(answer: Spoken, { request, terms }: Heard, instant: number): Completion {
  const { number, model, max_tokens } = request;
  const { answers, input_tokens: input } = terms;
  const most = answer.ignores_limit === true || max_tokens === null ? Number.POSITIVE_INFINITY : max_tokens;
  const said = saidWithin(answer, terms, { most, number });
  const { thinking, text, tool_calls } = said;
  const reasoning = tokensOf(thinking);
  const output = reasoning + tokensOf(text) + tool_calls.reduce((sum, call) => sum + tokensOf(call.arguments), 0);
  const counted = { input, output: output * answers, reasoning: reasoning * answers };
  const ended = said.cut || isBeyond(answer.usage, most * answers);
  return {
    number,
    model,
    created: Math.floor(instant / 1000),
    thinking,
    text,
    tool_calls,
    answers,
    finish: ended ? "length" : answer.filtered === true ? "filtered" : tool_calls.length > 0 ? "tools" : "stop",
    stop: ended ? null : said.stop,
    usage: usageFor(answer.usage, counted, most * answers),
  };
}

/** As much of an answer as may be said: thinking first, then the text, then the calls. */
function saidWithin(answer: Spoken, terms: Terms, { most, number }: { most: number; number: number }) {
  const thinks = answer.thinking ?? "";
  const thinking = beginningOf(thinks, Math.min(most, terms.thinking_tokens));
  // Thinking that reaches a limit of its own gives way to the answer; at the answer's limit, nothing comes after it.
  let cut = thinking !== thinks && most <= terms.thinking_tokens;
  let left = most - tokensOf(thinking);
  const [wanted, stop] = untilStop(answer.text, terms.stops);
  const text = beginningOf(wanted, left);
  cut ||= text !== wanted;
  left -= tokensOf(text);
  const tool_calls: SaidToolCall[] = [];
  for (const [index, call] of (stop === null ? (answer.tool_calls ?? []) : []).entries()) {
    const whole = JSON.stringify(call.arguments);
    const part = cut ? "" : beginningOf(whole, left);
    cut ||= part !== whole;
    left -= tokensOf(part);
    if (part !== "") tool_calls.push(saidCall(call, part, { id: `${number}_${index}`, whole: part === whole }));
  }
  return { thinking, text, tool_calls, stop, cut };
}

function saidCall(call: ScriptedToolCall, part: string, about: { id: string; whole: boolean }): SaidToolCall {
  return { id: about.id, name: call.name, arguments: part, input: about.whole ? call.arguments : {} };
}

/** A text up to the first of the texts that end it, and which one that was. */
function untilStop(text: string, stops: readonly string[]): readonly [string, string | null] {
  const found = stops.map((stop) => ({ stop, at: text.indexOf(stop) })).filter(({ at }) => at >= 0);
  const first = found.sort((one, other) => one.at - other.at)[0];
  return first === undefined ? [text, null] : [text.slice(0, first.at), first.stop];
}
