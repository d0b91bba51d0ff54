import { IS_HOPELESS } from "../http/grammar.js";
import { MalformedRequest } from "./malformed-request.js";

const HEAD_END = "\r\n\r\n";
const [CR, LF] = [0x0d, 0x0a];
/** Most heads are shorter, and to look for their end in a text is quicker than in bytes. */
const USUAL_HEAD = 1024;

/** A head that is whole, without the empty line at its end, and the bytes behind that. */
export interface WholeHead {
  readonly text: string;
  readonly rest: Buffer;
}

/** Reads heads, one after the other, however their bytes are split. Each byte is looked at once. */
export class HeadReader {
  private readonly header_bytes: number;
  /** What has come of a head that is not whole, and its last characters. */
  private text = "";
  private last = "";

  constructor(header_bytes: number) {
    this.header_bytes = header_bytes;
  }

  /** Whether a part of a head has come. */
  get isBegun(): boolean {
    return this.text !== "" && this.text !== "\r";
  }

  /** Takes the next bytes; null when the head is not whole with them. */
  read(bytes: Buffer): WholeHead | null {
    if (this.text !== "") return this.goOn(bytes);
    const start = endOfLines(bytes);
    const usual = bytes.toString("latin1", start, Math.min(bytes.length, start + USUAL_HEAD));
    const end = usual.indexOf(HEAD_END);
    if (end < 0) return this.goOn(start === 0 ? bytes : bytes.subarray(start));
    this.check(end + HEAD_END.length);
    return { text: usual.slice(0, end + 2), rest: bytes.subarray(start + end + HEAD_END.length) };
  }

  private goOn(bytes: Buffer): WholeHead | null {
    // The end of a line before a head, in two pieces, is nothing either.
    if (this.text === "\r" && bytes[0] === LF) {
      this.begin();
      return bytes.length > 1 ? this.read(bytes.subarray(1)) : null;
    }
    const come = bytes.toString("latin1");
    const looked = this.last + come;
    const end = looked.indexOf(HEAD_END);
    if (end < 0) return this.hold(come, looked);
    const size = this.text.length - this.last.length + end + HEAD_END.length;
    this.check(size);
    const behind = size - this.text.length;
    const text = (this.text + come.slice(0, behind)).slice(0, -2);
    this.begin();
    return { text, rest: bytes.subarray(behind) };
  }

  private hold(come: string, looked: string): null {
    this.check(this.text.length + come.length);
    // The end of a line that was looked at before may be cut in two here.
    const isCut = this.last !== "" && looked.charCodeAt(0) === LF;
    if (IS_HOPELESS.test(isCut ? looked.slice(1) : looked))
      throw new MalformedRequest("its head is no head of HTTP/1.1");
    this.text += come;
    this.last = looked.slice(1 - HEAD_END.length);
    return null;
  }

  private begin(): void {
    this.text = "";
    this.last = "";
  }

  private check(size: number): void {
    const { header_bytes } = this;
    if (size > header_bytes) throw new MalformedRequest(`its headers have more than ${header_bytes} bytes`, 431);
  }
}

/** Some clients write ends of lines behind a body, which are nothing. */
export function endOfLines(bytes: Buffer): number {
  let at = 0;
  while (bytes[at] === CR && bytes[at + 1] === LF) at += 2;
  return at;
}
