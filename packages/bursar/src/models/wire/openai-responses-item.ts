import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isCount } from "../../core/chain/rules.js";
import { listOf, objectOf } from "./json-object.js";

/** More parts than any item has are not told apart. */
const MOST_PARTS = 1_024;

type Shelf = "content" | "summary";

/** A part of an item: some text that arrives in pieces. */
interface Part {
  start: JsonObject;
  readonly pieces: string[];
  isOpen: boolean;
}

/** Which events add to which texts. */
const DELTAS: ReadonlyMap<Json | undefined, Shelf | "tail"> = new Map<Json, Shelf | "tail">([
  ["response.output_text.delta", "content"],
  ["response.refusal.delta", "content"],
  ["response.reasoning_text.delta", "content"],
  ["response.reasoning_summary_text.delta", "summary"],
  ["response.function_call_arguments.delta", "tail"],
  ["response.custom_tool_call_input.delta", "tail"],
]);

/** How the text of a part ends, by the type of the part. */
const TEXT_DONE: ReadonlyMap<Json | undefined, string> = new Map([
  ["output_text", "response.output_text.done"],
  ["reasoning_text", "response.reasoning_text.done"],
  ["summary_text", "response.reasoning_summary_text.done"],
  ["refusal", "response.refusal.done"],
]);

/** Items that are one text, with the field it stands in and the event that ends it. */
const TAILS: ReadonlyMap<Json | undefined, { readonly field: string; readonly done: string }> = new Map([
  ["function_call", { field: "arguments", done: "response.function_call_arguments.done" }],
  ["custom_tool_call", { field: "input", done: "response.custom_tool_call_input.done" }],
]);

/** One item of a response that arrives in pieces; it remembers them, because whoever ends it has to repeat the whole. */
export class OpenItem {
  /** Bytes of output seen of it so far. */
  seen_bytes = 0;
  readonly #parts: Record<Shelf, Map<number, Part>> = { content: new Map(), summary: new Map() };
  readonly #tail: string[] = [];
  #start: JsonObject;
  #isOpen = true;

  constructor(start: JsonObject) {
    this.#start = start;
  }

  /** Takes an event about this item. */
  read(type: string, value: JsonObject): void {
    switch (type) {
      case "response.output_item.done":
        this.#end(objectOf(value.item));
        break;
      case "response.content_part.added":
      case "response.content_part.done":
        this.#setPart("content", value.content_index, objectOf(value.part), type.endsWith(".added"));
        break;
      case "response.reasoning_summary_part.added":
      case "response.reasoning_summary_part.done":
        this.#setPart("summary", value.summary_index, objectOf(value.part), type.endsWith(".added"));
        break;
      default:
        this.#append(DELTAS.get(type), value);
    }
  }

  /** The item as far as it has come. */
  get item(): JsonObject {
    if (!this.#isOpen) return this.#start;
    const { content, summary } = this.#parts;
    const tail = this.#tailOf();
    return {
      ...this.#start,
      ...(this.#start.type !== "custom_tool_call" && { status: "incomplete" }),
      ...(content.size > 0 && { content: wholes(content) }),
      ...(summary.size > 0 && { summary: wholes(summary) }),
      ...(tail !== null && { [tail.field]: tail.text }),
    };
  }

  /** The events that end it where it stands. */
  close(output_index: number): readonly JsonObject[] {
    if (!this.#isOpen) return [];
    const about = { item_id: this.#start.id ?? "", output_index };
    const events: JsonObject[] = [];
    for (const [index, part] of this.#parts.summary) {
      events.push(...closings(part, { ...about, summary_index: index }, "response.reasoning_summary_part.done"));
    }
    for (const [index, part] of this.#parts.content) {
      events.push(...closings(part, { ...about, content_index: index }, "response.content_part.done"));
    }
    const tail = this.#tailOf();
    if (tail !== null) events.push({ type: tail.done, ...about, [tail.field]: tail.text });
    const { item } = this;
    events.push({ type: "response.output_item.done", output_index, item });
    this.#end(item);
    return events;
  }

  #end(item: JsonObject): void {
    this.#start = item;
    this.#isOpen = false;
  }

  #setPart(shelf: Shelf, at: Json | undefined, start: JsonObject, isOpen: boolean): void {
    this.#parts[shelf].set(placeOf(at), { start, pieces: [], isOpen });
  }

  #append(to: Shelf | "tail" | undefined, { delta, content_index, summary_index }: JsonObject): void {
    if (to === undefined || typeof delta !== "string") return;
    if (to === "tail") this.#tail.push(delta);
    else this.#parts[to].get(placeOf(to === "content" ? content_index : summary_index))?.pieces.push(delta);
  }

  #tailOf(): { readonly field: string; readonly done: string; readonly text: string } | null {
    const tail = TAILS.get(this.#start.type);
    if (tail === undefined) return null;
    const begun = this.#start[tail.field];
    return { ...tail, text: (typeof begun === "string" ? begun : "") + this.#tail.join("") };
  }
}

function placeOf(index: Json | undefined): number {
  return isCount(index) ? Math.min(index, MOST_PARTS) : 0;
}

/** The field that holds the text of a part. */
function fieldOf({ start }: Part): "text" | "refusal" {
  return start.type === "refusal" ? "refusal" : "text";
}

function wholeOf(part: Part): JsonObject {
  const field = fieldOf(part);
  const begun = part.start[field];
  return { ...part.start, [field]: (typeof begun === "string" ? begun : "") + part.pieces.join("") };
}

function wholes(parts: ReadonlyMap<number, Part>): readonly JsonObject[] {
  return [...parts].sort(([a], [b]) => a - b).map(([, part]) => wholeOf(part));
}

/** The events that end a part: its text, then the part itself. */
function closings(part: Part, about: JsonObject, type: string): readonly JsonObject[] {
  if (!part.isOpen) return [];
  const whole = wholeOf(part);
  const field = fieldOf(part);
  const done = TEXT_DONE.get(part.start.type);
  const logprobs = part.start.type === "output_text" ? { logprobs: listOf(part.start.logprobs) } : {};
  const text = done === undefined ? [] : [{ type: done, ...about, [field]: whole[field] ?? "", ...logprobs }];
  return [...text, { type, ...about, part: whole }];
}
