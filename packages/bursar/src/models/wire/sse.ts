import { Buffer } from "node:buffer";
import { BursarError } from "../../core/errors.js";

/** One event of a stream, with the very bytes it came in. */
export class SseEvent {
  /** The `event` field; "" where there is none. */
  readonly event: string;
  /** The lines of data, joined; null for what carries none, such as a comment that keeps the connection open. */
  readonly data: string | null;
  /** What it came in, and where it begins and ends there. */
  readonly piece: Uint8Array;
  readonly from: number;
  readonly to: number;

  constructor(event: string, data: string | null, piece: Uint8Array, from: number, to: number) {
    this.event = event;
    this.data = data;
    this.piece = piece;
    this.from = from;
    this.to = to;
  }

  /** Everything from the end of the event before to the end of this one, so that all bytes together are the stream. */
  get bytes(): Uint8Array {
    return stretchOf(this.piece, this.from, this.to);
  }
}

/** To cut out a stretch of bytes takes longer than to look for it, so that nothing is cut that is whole. */
export function stretchOf(piece: Uint8Array, from: number, to: number): Uint8Array {
  return from === 0 && to === piece.length ? piece : piece.subarray(from, to);
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
    const from = this.#isBetween ? 0 : this.#scan(bytes, 0, events, true);
    if (from === bytes.length) return events;
    const rest = bufferOf(bytes, from, bytes.length);
    const text = rest.toString("utf8");
    if (!this.#isBetween || text.includes("\r")) this.#scan(bytes, from, events, false);
    // Where there are as many characters as bytes, each of them stands for one.
    else if (text.length === rest.length) this.#cut(bytes, from, events, text, true);
    else this.#cut(bytes, from, events, rest.toString("latin1"), false);
    return events;
  }

  /** Whether an event has just ended, and nothing has come since. */
  get #isBetween(): boolean {
    return this.#size === 0 && this.#atStart && !this.#afterCr;
  }

  /**
   * Cuts out the events of a stretch without a CR, which begins where an event does, in a text that has a character for each of its bytes:
   * whole texts are searched much faster than bytes are looked at. `isRead` when the characters are those that the bytes stand for.
   */
  #cut(bytes: Uint8Array, start: number, events: SseEvent[], text: string, isRead: boolean): void {
    let from = 0;
    for (;;) {
      const line = text.indexOf("\n", from);
      const isOne = line === from || (line !== -1 && text.charCodeAt(line + 1) === LF);
      const last = isOne || line === -1 ? line : text.indexOf("\n\n", line);
      if (last === -1) break;
      // An event that begins with the end of a line is nothing but that.
      const to = line === from ? from + 1 : last + 2;
      this.#check(to - from);
      if (isRead && isOne && text.startsWith(DATA, from)) {
        events.push(new SseEvent("", text.slice(from + DATA.length, line), bytes, start + from, start + to));
        this.#first = false;
      } else events.push(this.#read(bytes, start + from, start + to));
      from = to;
    }
    if (from === text.length) return;
    this.#atStart = text.charCodeAt(text.length - 1) === LF;
    this.#keep(bytes.subarray(start + from));
  }

  /** Looks at each byte, whatever ends the lines; `once` until an event ends. Gives how far it has come. */
  #scan(bytes: Uint8Array, start: number, events: SseEvent[], once: boolean): number {
    let from = start;
    // Every byte of some answers comes through here, so that what changes with each of them is kept in variables.
    let atStart = this.#atStart;
    let afterCr = this.#afterCr;
    for (let at = start; at < bytes.length; at++) {
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
      if (once) break;
    }
    this.#atStart = atStart;
    this.#afterCr = afterCr;
    if (once && events.length > 0) return from;
    if (from < bytes.length) this.#keep(bytes.subarray(from));
    return bytes.length;
  }

  /** What has come since the last event ended: a stream that breaks off leaves half an event. Null when there is nothing. */
  end(): SseEvent | null {
    return this.#size === 0 ? null : this.#take();
  }

  #keep(piece: Uint8Array): void {
    this.#size += piece.length;
    this.#check(this.#size);
    this.#pieces.push(piece);
  }

  #check(size: number): void {
    if (size <= this.#mostBytes) return;
    throw new BursarError("provider_answer", `the provider sends an event of more than ${this.#mostBytes} bytes`);
  }

  #take(): SseEvent {
    const bytes = joined(this.#pieces, this.#size);
    this.#pieces = [];
    this.#size = 0;
    return this.#read(bytes, 0, bytes.length);
  }

  #read(piece: Uint8Array, from: number, to: number): SseEvent {
    // As a TextDecoder would, which takes longer to begin than for one event.
    const text = bufferOf(piece, from, to).toString("utf8");
    const marked = this.#first && text.startsWith(BYTE_ORDER);
    this.#first = false;
    return eventIn(marked ? text.slice(1) : text, piece, from, to);
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

function bufferOf(bytes: Uint8Array, from: number, to: number): Buffer {
  if (Buffer.isBuffer(bytes) && from === 0 && to === bytes.length) return bytes;
  return Buffer.from(bytes.buffer, bytes.byteOffset + from, to - from);
}

/** Reads the lines of one event, by the rules of the HTML standard; `id` and `retry` mean nothing to us. */
function eventIn(text: string, piece: Uint8Array, from: number, to: number): SseEvent {
  const end = text.length - 2;
  if (text.startsWith(DATA) && text.indexOf("\n") === end && text.endsWith("\n\n") && !text.includes("\r")) {
    return new SseEvent("", text.slice(DATA.length, end), piece, from, to);
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
  return new SseEvent(event, data === null ? null : data.join("\n"), piece, from, to);
}
