import type { JsonObject } from "../../core/chain/canonical.js";
import type { Completion } from "./completion.js";
import { type Heard, isObject } from "./request.js";

/** An item of a response's output, with its place and what it says. */
export type Item = Placed & (ReasoningItem | MessageItem | CallItem);

interface Placed {
  readonly id: string;
  readonly index: number;
  readonly whole: JsonObject;
}

/** Thinking; its summary is empty for whoever did not ask for it. */
export interface ReasoningItem {
  readonly kind: "reasoning";
  readonly summary: string;
}

export interface MessageItem {
  readonly kind: "message";
  readonly text: string;
}

export interface CallItem {
  readonly kind: "call";
  readonly name: string;
  readonly arguments: string;
}

/** The output of a response: thinking, then the text, then calls of tools. The last item is incomplete if the response is. */
export function itemsOf({ number, thinking, text, tool_calls, finish }: Completion, heard: Heard): readonly Item[] {
  const items: Item[] = [];
  if (thinking !== "") {
    const [id, summary] = [`rs_${number}`, wantsSummary(heard) ? thinking : ""];
    items.push({ kind: "reasoning", id, index: items.length, summary, whole: reasoningOf(summary, id, heard) });
  }
  if (text !== "" || (tool_calls.length === 0 && thinking === "")) {
    const id = `msg_${number}`;
    const whole = { id, type: "message", status: "completed", role: "assistant", content: [textPart(text)] };
    items.push({ kind: "message", id, index: items.length, text, whole });
  }
  for (const call of tool_calls) {
    const { name, arguments: args } = call;
    const [id, call_id] = [`fc_${call.id}`, `call_${call.id}`];
    const whole = { id, type: "function_call", status: "completed", arguments: args, call_id, name };
    items.push({ kind: "call", id, index: items.length, name, arguments: args, whole });
  }
  const last = items.at(-1);
  if (last === undefined || last.kind === "reasoning" || finish === "stop" || finish === "tools") return items;
  return items.with(-1, { ...last, whole: { ...last.whole, status: "incomplete" } });
}

/** A text as a part of a message. */
export function textPart(text: string): JsonObject {
  return { type: "output_text", annotations: [], logprobs: [], text };
}

function reasoningOf(summary: string, id: string, { request: { body } }: Heard): JsonObject {
  const { include } = body;
  const sealed = Array.isArray(include) && include.includes("reasoning.encrypted_content");
  // Whoever keeps no conversation at the provider sends this back; here it is only a mark that somebody did.
  const encrypted_content = Buffer.from(`scripted thinking ${id}`).toString("base64");
  return {
    id,
    type: "reasoning",
    summary: summary === "" ? [] : [{ type: "summary_text", text: summary }],
    ...(sealed && { encrypted_content }),
  };
}

function wantsSummary({ request: { body } }: Heard): boolean {
  return isObject(body.reasoning) && typeof body.reasoning.summary === "string";
}
