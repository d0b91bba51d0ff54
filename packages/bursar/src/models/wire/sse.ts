import { Buffer } from "node:buffer";
import { BursarError } from "../../core/errors.js";

/** One event of a stream, with the very bytes it came in. */
export interface SseEvent {
  /** The `event` field; "" where there is none. */
  readonly event: string;
  /** The lines of data, joined; null for what carries none, such as a comment that keeps the connection open. */
  readonly data: string | null;
  /** Everything from the end of the event before to the end of this one, so that all bytes together are the stream. */
  readonly bytes: Uint8Array;
}

/** An event that does not end cannot be kept: whoever sends it may never stop. */
const MOST_BYTES = 16 * 1024 * 1024;

const LF = 10;
const CR = 13;
const LINE_END = /\r\n|\n|\r/;
const BYTE_ORDER = "\ufeff";
/** What most events are: one line of data. */
const DATA = "data: ";

/**
 * Cuts a stream of server-sent events into events, however its bytes arrive: in the middle of a line, of a CRLF or of a
 * character.
 *
 * @example
 * ```ts
 * const splitter = new SseSplitter();
 * for await (const piece of body) for (const { event, data, bytes } of splitter.push(piece)) …
 * const rest = splitter.end();
 * ```
 */
export class SseSplitter {
  readonly #mostBytes: number;
  /** Nothing has come yet, so that a mark of the byte order may. */
  #first = true;
  #pieces: Uint8Array[] = [];
  #size = 0;
  /** Nothing of the present line has been seen. */
  #atStart = true;
  /** The last byte was a CR, so that an LF now belongs to it. */
  #afterCr = false;

  constructor({ mostBytes = MOST_BYTES }: { mostBytes?: number } = {}) {
    this.#mostBytes = mostBytes;
  }

  /** Takes the next bytes, and gives the events that end in them. The bytes must not be changed afterwards. */
  push(bytes: Uint8Array): readonly SseEvent[] {
    const events: SseEvent[] = [];
    let from = 0;
    // Every byte of every answer comes through here, so that what changes with each of them is kept in variables.
    let atStart = this.#atStart;
    let afterCr = this.#afterCr;
    for (let at = 0; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte !== LF && byte !== CR) {
        atStart = false;
        afterCr = false;
        continue;
      }
      const isSecond = byte === LF && afterCr;
      afterCr = byte === CR;
      if (isSecond) continue;
      if (!atStart) {
        atStart = true;
        continue;
      }
      // The LF of a CRLF goes with the event it ends, if it is there yet; else the next event begins with it, which means nothing.
      if (byte === CR && bytes[at + 1] === LF) {
        at++;
        afterCr = false;
      }
      this.#keep(bytes.subarray(from, at + 1));
      events.push(this.#take());
      from = at + 1;
    }
    this.#atStart = atStart;
    this.#afterCr = afterCr;
    if (from < bytes.length) this.#keep(bytes.subarray(from));
    return events;
  }

  /** What has come since the last event ended: a stream that breaks off leaves half an event. Null when there is nothing. */
  end(): SseEvent | null {
    return this.#size === 0 ? null : this.#take();
  }

  #keep(piece: Uint8Array): void {
    this.#size += piece.length;
    if (this.#size > this.#mostBytes) {
      throw new BursarError("provider_answer", `the provider sends an event of more than ${this.#mostBytes} bytes`);
    }
    this.#pieces.push(piece);
  }

  #take(): SseEvent {
    const bytes = joined(this.#pieces, this.#size);
    this.#pieces = [];
    this.#size = 0;
    const text = decoded(bytes);
    const marked = this.#first && text.startsWith(BYTE_ORDER);
    this.#first = false;
    return eventIn(marked ? text.slice(1) : text, bytes);
  }
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = pieces;
  if (pieces.length === 1 && first !== undefined) return first;
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** As a TextDecoder would, which takes longer to begin than for one event. */
function decoded(bytes: Uint8Array): string {
  const whole = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return whole.toString("utf8");
}

/** Reads the lines of one event, by the rules of the HTML standard; `id` and `retry` mean nothing to us. */
function eventIn(text: string, bytes: Uint8Array): SseEvent {
  const end = text.length - 2;
  if (text.startsWith(DATA) && text.indexOf("\n") === end && text.endsWith("\n\n") && !text.includes("\r")) {
    return { event: "", data: text.slice(DATA.length, end), bytes };
  }
  let event = "";
  let data: string[] | null = null;
  for (const line of text.split(LINE_END)) {
    const colon = line.indexOf(":");
    const name = colon === -1 ? line : line.slice(0, colon);
    if (name !== "data" && name !== "event") continue;
    const value = colon === -1 ? "" : line.slice(line[colon + 1] === " " ? colon + 2 : colon + 1);
    if (name === "event") event = value;
    else {
      data ??= [];
      data.push(value);
    }
  }
  return { event, data: data === null ? null : data.join("\n"), bytes };
}
