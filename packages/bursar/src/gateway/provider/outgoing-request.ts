import type { Socket } from "node:net";
import { IS_NAME, IS_PLAIN_TEXT, IS_TEXT } from "../http/grammar.js";
import { NotSent } from "./errors.js";

/** What says where a request goes and where it ends is said here, once, and by nobody else. */
const OWN: ReadonlySet<string> = new Set([
  "host",
  "connection",
  "keep-alive",
  "content-length",
  "transfer-encoding",
  "te",
  "trailer",
  "upgrade",
  "expect",
]);

/** A request as it is written, checked before anything is. */
export class OutgoingRequest {
  private readonly head: string;
  private readonly body: string;
  /** Whether they are in ASCII, which is the same in latin1 and in UTF-8. */
  private isHeadPlain = true;
  private readonly isBodyPlain: boolean;

  /**
   * `start` is its first line and what its address says, each with the end of a line. Whoever knows how many bytes the body has says so:
   * where those are as many as it has characters, nobody has to look at it again.
   */
  constructor(
    start: string,
    headers: Readonly<Record<string, string | readonly string[]>>,
    body: string | null,
    bytes: number | null = null,
  ) {
    let head = start;
    for (const name in headers) {
      const value = headers[name] as string | readonly string[];
      if (!IS_NAME.test(name) || OWN.has(name.toLowerCase())) {
        throw new NotSent("invalid_header", `no header that is sent may be called ${JSON.stringify(name)}`);
      }
      if (Array.isArray(value)) for (const each of value) head += this.line(name, each);
      else head += this.line(name, value as string);
    }
    const length = body === null ? 0 : bytes === body.length ? bytes : Buffer.byteLength(body);
    this.head = body === null ? `${head}\r\n` : `${head}content-length: ${length}\r\n\r\n`;
    this.body = body ?? "";
    this.isBodyPlain = length === this.body.length;
  }

  /** In one piece if that can be, because each is a system call; in latin1 if that can be, because nothing has to be converted. */
  writeTo(socket: Socket): void {
    const { head, body } = this;
    if (this.isBodyPlain) socket.write(head + body, "latin1");
    else if (this.isHeadPlain) socket.write(head + body, "utf8");
    else {
      socket.cork();
      socket.write(head, "latin1");
      socket.write(body, "utf8");
      socket.uncork();
    }
  }

  private line(name: string, value: string): string {
    if (typeof value !== "string" || !IS_PLAIN_TEXT.test(value)) {
      if (typeof value !== "string" || !IS_TEXT.test(value)) {
        throw new NotSent("invalid_header", `the header ${name} holds what no header may`);
      }
      this.isHeadPlain = false;
    }
    return `${name}: ${value}\r\n`;
  }
}
