import type { Json, JsonObject } from "../../core/chain/canonical.js";
import { isObject } from "./json-object.js";
import { isSaid } from "./request-fields.js";
import { saidBytes } from "./said-bytes.js";

/** What was said, and what changes beside it from one chunk to the next: its length is to hide how long that is. */
const SAID = "content";
const PADDING = "obfuscation";

const SPACE = 32;
const BACKSLASH = 92;
const TWO_BYTES = 0x80;
const THREE_BYTES = 0x800;
const FIRST_SURROGATE = 0xd800;
const LAST_SURROGATE = 0xdfff;

/**
 * How the chunks of one stream are written, apart from the texts that change from one to the next. Nearly all chunks of an answer differ
 * in nothing else, and to compare the rest takes a tenth of what it takes to parse it. A text in JSON is one token: with another
 * one in its place, if it has neither a quotation mark nor anything escaped, a chunk means the same but for this text.
 */
export class ChunkForm {
  /** What stands before, between and behind the texts that change, with the quotation marks around those. */
  readonly #parts: readonly string[];
  /** Which of the texts is what was said. */
  readonly #said: number;
  /** Bytes that are said in every chunk beside it. */
  readonly #beside: number;

  private constructor(parts: readonly string[], said: number, beside: number) {
    this.#parts = parts;
    this.#said = said;
    this.#beside = beside;
  }

  /** The form of a chunk; null when it has something that every chunk has to be looked at for, or cannot be told for certain. */
  static of(data: string, chunk: JsonObject): ChunkForm | null {
    const choice = choiceIn(chunk);
    const content = isObject(choice?.delta) ? choice.delta[SAID] : null;
    if (choice === null || typeof content !== "string" || isSaid(chunk.usage) || isSaid(chunk.error)) return null;
    // Without one, every quotation mark is the beginning or the end of a text, and every name is written as it is read.
    if (data.includes("\\")) return null;
    const said = placeOf(data, SAID);
    const padding = typeof chunk[PADDING] === "string" ? placeOf(data, PADDING) : null;
    if (said === null) return null;
    const places = padding === null ? [said] : [said, padding].sort((a, b) => a.start - b.start);
    const parts: string[] = [];
    let from = 0;
    for (const { start, end } of places) {
      parts.push(data.slice(from, start));
      from = end;
    }
    parts.push(data.slice(from));
    const beside = saidBytes(choice.delta) + saidBytes(choice.text) - saidBytes(content);
    return new ChunkForm(parts, places.indexOf(said), beside);
  }

  /** How many bytes are said in a chunk of this form; -1 when it is none, or may be none. */
  bytesIn(data: string): number {
    const parts = this.#parts;
    let bytes = this.#beside;
    let at = 0;
    for (let index = 0; index < parts.length; index++) {
      const part = parts[index] as string;
      const end = index === 0 ? 0 : data.indexOf('"', at);
      const length = end === -1 ? -1 : plainBytes(data, at, end);
      // The engine compares texts as a whole, and whether one begins with another character by character.
      if (length === -1 || data.slice(end, end + part.length) !== part) return -1;
      if (index - 1 === this.#said) bytes += length;
      at = end + part.length;
    }
    return at === data.length ? bytes : -1;
  }
}

/** Where a text stands between its quotation marks. */
interface TextPlace {
  readonly start: number;
  readonly end: number;
}

/**
 * Where the text stands that the only member of this name has, in JSON without anything escaped; null when the name stands there twice,
 * be it as a text: then nobody knows which of them is read.
 */
function placeOf(data: string, name: string): TextPlace | null {
  const written = `"${name}"`;
  const first = data.indexOf(written);
  if (first === -1 || data.indexOf(written, first + 1) !== -1) return null;
  const start = data.indexOf('"', first + written.length) + 1;
  return { start, end: data.indexOf('"', start) };
}

/** The only choice of a chunk; null when there are others, or none. */
function choiceIn({ choices }: JsonObject): JsonObject | null {
  const list = Array.isArray(choices) ? (choices as readonly Json[]) : [];
  return list.length === 1 && isObject(list[0]) ? list[0] : null;
}

/** The bytes of a stretch in UTF-8; -1 when something in it is escaped, or may not stand in a text, or is half a character. */
function plainBytes(data: string, start: number, end: number): number {
  let bytes = end - start;
  for (let at = start; at < end; at++) {
    const code = data.charCodeAt(at);
    if (code < SPACE || code === BACKSLASH) return -1;
    if (code < TWO_BYTES) continue;
    if (code >= FIRST_SURROGATE && code <= LAST_SURROGATE) return -1;
    bytes += code < THREE_BYTES ? 1 : 2;
  }
  return bytes;
}
