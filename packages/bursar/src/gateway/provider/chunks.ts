import { MOST_HEAD } from "./answer-head.js";
import { MalformedAnswer } from "./errors.js";
import { IS_EXTENSION, IS_HOPELESS, IS_TRAILER } from "./grammar.js";

/** Enough for 4 GB in one chunk. */
const MOST_DIGITS = 8;
/** What may stand behind a size, and is not read. */
const MOST_EXTENSION = 1024;

const [CR, LF, SEMICOLON] = [0x0d, 0x0a, 0x3b];

/** What comes next. */
type Next = "size" | "extension" | "size end" | "data" | "data return" | "data end" | "trailer" | "nothing";

/**
 * A body in chunks. What stands around the chunks is read byte by byte, so that it does not matter where it is split; the chunks
 * themselves are not looked at.
 */
export class Chunks {
  private readonly take: (piece: Buffer) => void;
  private next: Next = "size";
  private size = 0;
  private digits = 0;
  private extension = "";
  private trailer = "";
  /** Where in the bytes that are being read the data stands that was found in them. */
  private start = 0;
  private end = 0;

  constructor(take: (piece: Buffer) => void) {
    this.take = take;
  }

  /**
   * Takes the next bytes, and says whether the body has ended with them. Providers send many small chunks at once: what is in them
   * is moved together, and handed over as one piece, even if something malformed comes after it.
   */
  read(bytes: Buffer): boolean {
    this.start = 0;
    this.end = 0;
    try {
      return this.readAll(bytes);
    } finally {
      if (this.end > this.start) this.take(bytes.subarray(this.start, this.end));
    }
  }

  private readAll(bytes: Buffer): boolean {
    let at = 0;
    while (at < bytes.length) {
      if (this.next === "data") at = this.readData(bytes, at);
      else if (this.next === "trailer") return this.readTrailer(bytes.toString("latin1", at));
      else this.readFrame(bytes[at++] as number);
    }
    return this.next === "nothing";
  }

  private readData(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.size);
    this.size -= end - at;
    if (this.size === 0) this.next = "data return";
    if (this.end === 0) this.start = at;
    else bytes.copyWithin(this.end, at, end);
    this.end = (this.end === 0 ? at : this.end) + end - at;
    return end;
  }

  private readFrame(byte: number): void {
    switch (this.next) {
      case "size":
        this.readSize(byte);
        break;
      case "extension":
        this.readExtension(byte);
        break;
      case "size end":
        expect(byte, LF);
        this.next = this.size === 0 ? "trailer" : "data";
        break;
      case "data return":
        expect(byte, CR);
        this.next = "data end";
        break;
      case "data end":
        expect(byte, LF);
        this.digits = 0;
        this.extension = "";
        this.next = "size";
        break;
      default:
        throw new MalformedAnswer("there are bytes behind its last chunk");
    }
  }

  private readSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      if (++this.digits > MOST_DIGITS) throw new MalformedAnswer("a chunk is too large");
      this.size = this.size * 16 + digit;
      return;
    }
    if (this.digits === 0 || (byte !== CR && byte !== SEMICOLON)) throw new MalformedAnswer("a chunk has no size");
    if (byte === CR) this.next = "size end";
    else {
      this.next = "extension";
      this.readExtension(byte);
    }
  }

  /** It is dropped: nobody has asked for one. */
  private readExtension(byte: number): void {
    if (byte !== CR) {
      this.extension += String.fromCharCode(byte);
      if (this.extension.length > MOST_EXTENSION) throw new MalformedAnswer("a chunk has too much behind its size");
      return;
    }
    if (!IS_EXTENSION.test(this.extension)) throw new MalformedAnswer("a chunk has something behind its size");
    this.next = "size end";
  }

  /** It is dropped, because nobody asks for it; but only once it is certain where it ends. */
  private readTrailer(text: string): boolean {
    this.trailer += text;
    const { trailer } = this;
    if (trailer.length > MOST_HEAD) throw new MalformedAnswer("its trailer is too long");
    if (IS_TRAILER.test(trailer)) {
      this.next = "nothing";
      return true;
    }
    const isOver = trailer.startsWith("\r\n") || trailer.includes("\r\n\r\n");
    if (isOver || IS_HOPELESS.test(trailer)) throw new MalformedAnswer("its trailer is none");
    return false;
  }
}

function expect(byte: number, wanted: number): void {
  if (byte !== wanted) throw new MalformedAnswer("a chunk does not end where it should");
}

/** What a hexadecimal digit stands for; -1 for none. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const small = byte | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
}
