import { Chunks } from "../http/chunks.js";
import { IS_HOPELESS } from "../http/grammar.js";
import { AnswerHead, MOST_HEAD } from "./answer-head.js";
import { ConnectionLost, MalformedAnswer } from "./errors.js";

/** Who is told what is read. */
export interface AnswerSink {
  begin(head: AnswerHead): void;
  push(piece: Buffer): void;
}

const HEAD_END = "\r\n\r\n";
const USUAL_HEAD = 1024;
const START = "HTTP/1.";
const fault = (what: string): MalformedAnswer => new MalformedAnswer(what);

/**
 * Reads one answer of HTTP/1.1, however its bytes are split. It is made anew for each, so that nothing of one answer is left when
 * the next comes; and it refuses what could be read in two ways, because connections are shared: a byte that is read wrongly would
 * show one client what another was answered.
 */
export class AnswerReader {
  /** What the answer says about itself; null until that is whole. */
  head: AnswerHead | null = null;
  private readonly sink: AnswerSink;
  /** What has come of a head that is not whole. */
  private held: Buffer | null = null;
  /** How many bytes heads have taken that only announce another. */
  private skipped = 0;
  /** How many bytes of the body are still to come, where that is known. */
  private left = 0;
  private chunks: Chunks | null = null;

  constructor(sink: AnswerSink) {
    this.sink = sink;
  }

  /** Takes the next bytes, and says whether the answer has ended with them. */
  read(bytes: Buffer): boolean {
    if (this.head !== null) return this.readBody(this.head, bytes);
    const all = this.held === null ? bytes : Buffer.concat([this.held, bytes]);
    this.held = null;
    return this.readHead(all);
  }

  /** The connection was closed: all is well if the answer goes until then. */
  close(): void {
    if (this.head?.framing !== "close") throw new ConnectionLost();
  }

  private readHead(bytes: Buffer): boolean {
    // Most heads are short, and to look for their end in a text is quicker than in bytes.
    const usual = bytes.toString("latin1", 0, Math.min(bytes.length, USUAL_HEAD));
    const found = usual.indexOf(HEAD_END);
    const end = found < 0 && bytes.length > USUAL_HEAD ? bytes.indexOf(HEAD_END) : found;
    if ((end < 0 ? bytes.length : end + HEAD_END.length) + this.skipped > MOST_HEAD) {
      throw new MalformedAnswer(`its head has more than ${MOST_HEAD} bytes`);
    }
    if (end < 0) return this.hold(bytes);
    const head = new AnswerHead(found < 0 ? bytes.toString("latin1", 0, end + 2) : usual.slice(0, end + 2));
    const rest = bytes.subarray(end + HEAD_END.length);
    if (head.status >= 200) return this.begin(head, rest);
    if (head.status === 101) throw new MalformedAnswer("it changes the protocol, which nobody asked for");
    // What comes before the answer itself is for nobody but us.
    this.skipped += end + HEAD_END.length;
    return rest.length > 0 && this.readHead(rest);
  }

  /** Waits for the rest of a head, unless it can be none any more. */
  private hold(bytes: Buffer): boolean {
    const text = bytes.toString("latin1");
    const start = text.slice(0, START.length);
    if (start !== START.slice(0, start.length) || IS_HOPELESS.test(text)) {
      throw new MalformedAnswer("its head is no head of HTTP/1.1");
    }
    this.held = bytes;
    return false;
  }

  private begin(head: AnswerHead, rest: Buffer): boolean {
    this.left = head.length;
    if (head.framing === "none" || head.framing === "length") this.checkEnd(head, rest);
    if (head.framing === "chunks") this.chunks = new Chunks((piece) => this.sink.push(piece), fault, MOST_HEAD);
    this.head = head;
    this.sink.begin(head);
    return this.readBody(head, rest);
  }

  private readBody(head: AnswerHead, bytes: Buffer): boolean {
    switch (head.framing) {
      case "none":
        this.checkEnd(head, bytes);
        return true;
      case "length":
        this.checkEnd(head, bytes);
        this.left -= bytes.length;
        if (bytes.length > 0) this.sink.push(bytes);
        return this.left === 0;
      case "chunks":
        return this.readChunks(this.chunks as Chunks, bytes);
      case "close":
        if (bytes.length > 0) this.sink.push(bytes);
        return false;
    }
  }

  private readChunks(chunks: Chunks, bytes: Buffer): boolean {
    const isOver = chunks.read(bytes);
    if (chunks.behind > 0) throw new MalformedAnswer("there are bytes behind its end");
    return isOver;
  }

  private checkEnd({ framing }: AnswerHead, bytes: Buffer): void {
    if (bytes.length > (framing === "none" ? 0 : this.left))
      throw new MalformedAnswer("there are bytes behind its end");
  }
}
