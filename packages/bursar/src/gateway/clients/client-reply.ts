import type { OutgoingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { answerText } from "./answer-text.js";
import type { Reply } from "./asked.js";

/** Longer pieces are not copied to save a write. */
const MOST_TOGETHER = 8 * 1024;
/** Of more than that, the next part is written when the one before has gone, so that it can be told who reads slowly from who does not read. */
const MOST_POURED = 256 * 1024;
/** No more than that waits for more to go with it. */
const MOST_WAITING = 16 * 1024;

/** The connection that a reply goes to. */
export interface ReplyLine {
  /** The lines that say what comes after the answer, and the empty one; nothing does if this is the last one. */
  lastLines(isLast: boolean): string;
  /** The answer is written. */
  done(): void;
  /** What follows takes the client a while to read: how long may pass without any of it being read is the connection's to say. */
  bear(): void;
}

/** How an answer says where it ends; "none" has no body at all. */
type Framing = "length" | "chunks" | "close" | "none";

/** The answer to one request, written to its connection by ourselves. */
export class ClientReply implements Reply {
  status = 0;
  isEnded = false;
  refused: string | null = null;
  readonly flow: Socket;
  private readonly line: ReplyLine;
  private readonly isHead: boolean;
  private readonly isOld: boolean;
  private framing: Framing = "length";
  /** What is written and waits for more to go with it. */
  private text = "";
  private isLost = false;
  /** Whether what waits goes as soon as everything else that is to be done now is done. */
  private isDue = false;

  /** `isHead`: only the head is wanted; `isOld`: chunks are not understood. */
  constructor(socket: Socket, line: ReplyLine, isHead: boolean, isOld: boolean) {
    this.flow = socket;
    this.line = line;
    this.isHead = isHead;
    this.isOld = isOld;
  }

  get isGone(): boolean {
    return this.isLost || this.flow.destroyed;
  }

  answer(status: number, headers: OutgoingHttpHeaders, body: Buffer): void {
    const length = isBare(status) ? "" : `content-length: ${body.length}\r\n`;
    this.head(status, headers, length, this.isHead || isBare(status) ? "none" : "length");
    this.end(body);
  }

  begin(status: number, headers: OutgoingHttpHeaders): void {
    if (this.isHead || isBare(status)) this.head(status, headers, "", "none");
    else if (this.isOld) this.head(status, headers, "", "close");
    else this.head(status, headers, "transfer-encoding: chunked\r\n", "chunks");
  }

  flush(): void {
    this.goSoon();
  }

  write(bytes: Uint8Array): boolean {
    if (bytes.length === 0 || this.framing === "none") return true;
    const isChunk = this.framing === "chunks";
    if (isChunk) this.text += `${bytes.length.toString(16)}\r\n`;
    if (bytes.length > MOST_TOGETHER) return this.put(bytes, isChunk ? "\r\n" : "");
    this.text += isChunk ? `${latin1(bytes)}\r\n` : latin1(bytes);
    if (this.text.length > MOST_WAITING) return this.send("");
    this.goSoon();
    return !this.flow.writableNeedDrain;
  }

  end(last?: Uint8Array): void {
    if (this.isEnded) return;
    this.isEnded = true;
    if (last !== undefined && last.length > MOST_POURED && this.framing === "length") {
      this.line.bear();
      this.send("");
      this.pour(last, 0);
      return;
    }
    const ending = this.framing === "chunks" ? LAST_CHUNK : "";
    if (last !== undefined && last.length > 0 && this.framing !== "none") {
      if (this.framing === "chunks") this.text += `${last.length.toString(16)}\r\n`;
      this.put(last, this.framing === "chunks" ? `\r\n${ending}` : "");
    } else if (this.text !== "" || ending !== "") this.send(ending);
    if (!this.isGone) this.line.done();
  }

  private pour(bytes: Uint8Array, from: number): void {
    if (this.isGone) return;
    const to = from + MOST_POURED;
    const fits = this.flow.write(bytes.subarray(from, to));
    if (to >= bytes.length) this.line.done();
    else if (fits) this.pour(bytes, to);
    else this.flow.once("drain", () => this.pour(bytes, to));
  }

  hangUp(): void {
    this.send("");
    this.flow.destroy();
  }

  /** Nothing more is written: another has said the last word on this connection. */
  lose(): void {
    this.isLost = true;
  }

  private head(status: number, headers: OutgoingHttpHeaders, length: string, framing: Framing): void {
    if (this.status !== 0) throw new Error("the answer has begun already");
    this.text = `${answerText(status, headers)}${length}${this.line.lastLines(headers.connection === "close")}`;
    this.status = status;
    this.framing = framing;
  }

  /** In one piece with what waits, because each is a system call; as a text that has a character for each byte. */
  private put(bytes: Uint8Array, after: string): boolean {
    if (bytes.length <= MOST_TOGETHER) return this.send(`${latin1(bytes)}${after}`);
    if (this.isGone) return true;
    this.flow.cork();
    this.send("");
    let fits = this.flow.write(bytes);
    if (after !== "") fits = this.flow.write(after, "latin1");
    this.flow.uncork();
    return fits;
  }

  /**
   * Most answers end, and are settled, with the very bytes that are written here; then all of it goes in one piece. Where something has
   * to be waited for, it does not wait for that.
   */
  private goSoon(): void {
    if (this.isDue) return;
    this.isDue = true;
    process.nextTick(() => {
      this.isDue = false;
      this.send("");
    });
  }

  private send(text: string): boolean {
    const all = this.text + text;
    this.text = "";
    return all === "" || this.isGone || this.flow.write(all, "latin1");
  }
}

/** Whether an answer of this status never has a body. */
function isBare(status: number): boolean {
  return status === 204 || status === 304;
}

const LAST_CHUNK = "0\r\n\r\n";

function latin1(bytes: Uint8Array): string {
  const buffer = Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  return buffer.toString("latin1");
}
