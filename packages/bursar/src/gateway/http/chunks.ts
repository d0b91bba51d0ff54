import type { Fault } from "./fields.js";
import { IS_EXTENSION, IS_HOPELESS, IS_TRAILER } from "./grammar.js";

/** Enough for 4 GB in one chunk. */
const MOST_DIGITS = 8;
/** What may stand behind a size, and is not read; and behind all sizes of a body. */
const MOST_EXTENSION = 1024;
const MOST_EXTENSIONS = 16 * 1024;

const LINE_END = "\r\n";
const [CR, LF, SEMICOLON] = [0x0d, 0x0a, 0x3b];

/** What comes next. */
type Next = "size" | "extension" | "size end" | "data" | "data return" | "data end" | "trailer" | "nothing";

/**
 * A body in chunks. What stands around the chunks is read byte by byte, so that it does not matter where it is split; the chunks
 * themselves are not looked at.
 */
export class Chunks {
  /** How many of the bytes that were read last stand behind its end. */
  behind = 0;
  private readonly take: (piece: Buffer) => void;
  private readonly fault: Fault;
  private readonly most_trailer: number;
  private next: Next = "size";
  private size = 0;
  private digits = 0;
  private extension = "";
  /** How much has stood behind sizes so far. */
  private extensions = 0;
  private trailer = "";
  /** Where in the bytes that are being read the data stands that was found in them. */
  private start = 0;
  private end = 0;

  constructor(take: (piece: Buffer) => void, fault: Fault, most_trailer: number) {
    this.take = take;
    this.fault = fault;
    this.most_trailer = most_trailer;
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
        this.expect(byte, LF);
        this.next = this.size === 0 ? "trailer" : "data";
        break;
      case "data return":
        this.expect(byte, CR);
        this.next = "data end";
        break;
      case "data end":
        this.expect(byte, LF);
        this.digits = 0;
        this.extension = "";
        this.next = "size";
        break;
      default:
        throw this.fault("there are bytes behind its last chunk");
    }
  }

  private expect(byte: number, wanted: number): void {
    if (byte !== wanted) throw this.fault("a chunk does not end where it should");
  }

  private readSize(byte: number): void {
    const digit = digitOf(byte);
    if (digit >= 0) {
      if (++this.digits > MOST_DIGITS) throw this.fault("a chunk is too large");
      this.size = this.size * 16 + digit;
      return;
    }
    if (this.digits === 0 || (byte !== CR && byte !== SEMICOLON)) throw this.fault("a chunk has no size");
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
      if (this.extension.length > MOST_EXTENSION || ++this.extensions > MOST_EXTENSIONS)
        throw this.fault("a chunk has too much behind its size");
      return;
    }
    if (!IS_EXTENSION.test(this.extension)) throw this.fault("a chunk has something behind its size");
    this.next = "size end";
  }

  /** It is dropped, because nobody asks for it; but only once it is certain where it ends. */
  private readTrailer(text: string): boolean {
    this.trailer += text;
    const { trailer } = this;
    const blank = trailer.startsWith(LINE_END) ? 0 : trailer.indexOf(LINE_END + LINE_END) + LINE_END.length;
    const isWhole = blank !== LINE_END.length - 1;
    const end = isWhole ? blank + LINE_END.length : trailer.length;
    if (end > this.most_trailer) throw this.fault("its trailer is too long");
    if (isWhole ? !IS_TRAILER.test(trailer.slice(0, end)) : IS_HOPELESS.test(trailer)) {
      throw this.fault("its trailer is none");
    }
    if (!isWhole) return false;
    this.behind = trailer.length - end;
    this.next = "nothing";
    return true;
  }
}

/** What a hexadecimal digit stands for; -1 for none. */
function digitOf(byte: number): number {
  if (byte >= 0x30 && byte <= 0x39) return byte - 0x30;
  const small = byte | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
}
