import type { JsonObject } from "../../core/chain/canonical.js";
import { type CallItem, type Item, type MessageItem, type ReasoningItem, textPart } from "./responses-items.js";
import { piecesOf } from "./tokens.js";

type Event = JsonObject & { readonly type: string };

/** Where an event belongs. */
interface Place {
  readonly item_id: string;
  readonly output_index: number;
}

/** The events that bring one item of a response's output. */
export function itemEvents(item: Item): readonly Event[] {
  const { index: output_index, whole } = item;
  const place = { item_id: item.id, output_index };
  return [
    { type: "response.output_item.added", output_index, item: begun(item) },
    ...inner(item, place),
    { type: "response.output_item.done", output_index, item: whole },
  ];
}

/** An item before anything was said of it. */
function begun({ kind, whole }: Item): JsonObject {
  switch (kind) {
    case "reasoning":
      return { ...whole, summary: [] };
    case "message":
      return { ...whole, status: "in_progress", content: [] };
    case "call":
      return { ...whole, status: "in_progress", arguments: "" };
  }
}

function inner(item: Item, place: Place): readonly Event[] {
  switch (item.kind) {
    case "reasoning":
      return reasoningEvents(item, place);
    case "message":
      return messageEvents(item, place);
    case "call":
      return callEvents(item, place);
  }
}

function reasoningEvents({ summary: text }: ReasoningItem, place: Place): readonly Event[] {
  if (text === "") return [];
  const at = { ...place, summary_index: 0 };
  return [
    { type: "response.reasoning_summary_part.added", ...at, part: { type: "summary_text", text: "" } },
    ...piecesOf(text).map((delta) => ({ type: "response.reasoning_summary_text.delta", ...at, delta })),
    { type: "response.reasoning_summary_text.done", ...at, text },
    { type: "response.reasoning_summary_part.done", ...at, part: { type: "summary_text", text } },
  ];
}

function messageEvents({ text }: MessageItem, place: Place): readonly Event[] {
  const at = { ...place, content_index: 0 };
  return [
    { type: "response.content_part.added", ...at, part: textPart("") },
    ...piecesOf(text).map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text, logprobs: [] },
    { type: "response.content_part.done", ...at, part: textPart(text) },
  ];
}

function callEvents({ name, arguments: args }: CallItem, place: Place): readonly Event[] {
  return [
    ...piecesOf(args).map((delta) => ({ type: "response.function_call_arguments.delta", ...place, delta })),
    { type: "response.function_call_arguments.done", ...place, name, arguments: args },
  ];
}
