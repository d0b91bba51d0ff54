const MAX_LINE_LENGTH = 16 * 1024 * 1024;
const LINE_FEED = 0x0a;
const TOO_LONG = `it is longer than ${MAX_LINE_LENGTH} characters`;
const NOT_UTF8 = "it is not valid UTF-8";

/**
 * Cuts a stream of bytes or text into lines. Nothing is repaired on the way: bytes that are not UTF-8 are a fault and not
 * a replacement character, and a byte order mark stays where it is, because a verifier must see what is really there.
 */
export class LineSplitter {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  /** The beginning of a character whose other bytes are in the next chunk. */
  #partial: Uint8Array = new Uint8Array(0);
  #rest = "";
  #fault: string | null = null;

  /** What is wrong with the line after the last one given out, if anything is; there are no further lines then. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Takes a chunk and gives the lines it completes. */
  push(chunk: string | Uint8Array): string[] {
    const text = typeof chunk === "string" ? this.#takeText(chunk) : this.#decode(chunk);
    const lines = text.split("\n");
    const most = this.#rest.length + text.length;
    lines[0] = this.#rest + lines[0];
    this.#rest = lines.pop() ?? "";
    if (most <= MAX_LINE_LENGTH) return lines;
    const long = lines.findIndex((line) => line.length > MAX_LINE_LENGTH);
    if (long < 0 && this.#rest.length <= MAX_LINE_LENGTH) return lines;
    this.#fault = TOO_LONG;
    return long < 0 ? lines : lines.slice(0, long);
  }

  /** Gives the last line, if the stream did not end with a line feed. */
  end(): string[] {
    if (this.#partial.length > 0) this.#fault = NOT_UTF8;
    return this.#fault === null && this.#rest !== "" ? [this.#rest] : [];
  }

  #takeText(chunk: string): string {
    if (this.#partial.length === 0 || chunk === "") return chunk;
    this.#fault = NOT_UTF8;
    return "";
  }

  #decode(chunk: Uint8Array): string {
    const bytes = this.#partial.length === 0 ? chunk : join(this.#partial, chunk);
    const end = completeLength(bytes);
    this.#partial = bytes.slice(end);
    const complete = bytes.subarray(0, end);
    try {
      return this.#decoder.decode(complete);
    } catch {
      this.#fault = NOT_UTF8;
      return this.#decodeGoodLines(complete);
    }
  }

  /** The text before the first line that cannot be decoded; that line may not be the first bad one of the chain. */
  #decodeGoodLines(bytes: Uint8Array): string {
    let text = "";
    let at = 0;
    for (let end = lineEnd(bytes, 0); end > at; end = lineEnd(bytes, at)) {
      try {
        text += this.#decoder.decode(bytes.subarray(at, end));
      } catch {
        return text;
      }
      at = end;
    }
    return text;
  }
}

/** The index behind the line feed that ends the line at `at`, or 0 when none does. */
function lineEnd(bytes: Uint8Array, at: number): number {
  return bytes.indexOf(LINE_FEED, at) + 1;
}

function join(first: Uint8Array, second: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

/** How many bytes there are up to the last character that is complete. */
function completeLength(bytes: Uint8Array): number {
  const { length } = bytes;
  for (let back = 1; back <= Math.min(3, length); back++) {
    const byte = bytes[length - back] as number;
    const isFollower = byte >= 0x80 && byte < 0xc0;
    if (!isFollower) return sequenceLength(byte) > back ? length - back : length;
  }
  return length;
}

function sequenceLength(firstByte: number): number {
  if (firstByte < 0xc0) return 1;
  if (firstByte < 0xe0) return 2;
  return firstByte < 0xf0 ? 3 : 4;
}
